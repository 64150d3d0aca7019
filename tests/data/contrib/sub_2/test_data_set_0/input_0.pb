Bin0J©y
@