
BlogitsJ(˜¾Àd)ÁVú3ÁÙ&É@’7”À«bVAQ¡‰Àd)À½S@Ù&I@