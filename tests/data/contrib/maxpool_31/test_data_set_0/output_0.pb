Bout0J@MÉ\@
¤[@~ON@lÄR@bRM?"[)@~ON@lÄR@C{@£u\@L®5@ùt@C{@£u\@L®5@c½K@