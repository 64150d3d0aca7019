J qÜ59IAg
ş;^tpçZE*U_,kNlP