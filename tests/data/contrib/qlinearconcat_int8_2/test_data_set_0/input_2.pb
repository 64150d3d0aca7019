Bin8J
LqöÈÇtô~Ü