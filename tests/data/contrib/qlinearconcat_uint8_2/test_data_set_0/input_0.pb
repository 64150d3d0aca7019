	Bin2JJëËµf+D:ºg.
Ò'tÒ ¿