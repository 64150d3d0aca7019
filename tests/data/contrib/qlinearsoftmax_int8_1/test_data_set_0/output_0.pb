
Bout0Jk[oi\iw^hbZww\x]\tY_]YYuZ_|c{k