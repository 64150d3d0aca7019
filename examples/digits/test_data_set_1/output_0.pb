
BlogitsJ(≤░>юQ║	ю▓7■ютм@0V└юd)>ЗqNAы&июQ║┴@iлKа