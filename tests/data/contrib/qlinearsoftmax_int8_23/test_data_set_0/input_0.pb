Bin0J<
ÔDn