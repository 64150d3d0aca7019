Bout0J`hh*#Iee|qqllVV_WeaÿWjj HP0UuulU3ikUhiky{{`S{{
9fuu|\VV\\7a3Jr0vuuhtwHFAFFYYï{E|{Y9|s&f~m[U