
Bout0Jkknhikhilijihhimhklliilihniili