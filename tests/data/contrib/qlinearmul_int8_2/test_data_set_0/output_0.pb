FBout0J˜sH˜yx|GR:€oHf7`SDx{`CTc%rOÿu€hq€€?wX
Tve-€Ã`tvxyoqY}k€€!}þvqYsAJpjÇõS}.^ÜüiœûE€€nz`6n4YtpXT€p}sUr\yùw€c7:vrI€Ó~qq_"q]|pu[WeDq¶gu[;N'ISu]P€Cl][jáÝdq	€Žu2i
Ù¾t•v€€s:€5@Lp&a|