Bin0J8Dò\§bHÌRgË&b	ê8ª5r
