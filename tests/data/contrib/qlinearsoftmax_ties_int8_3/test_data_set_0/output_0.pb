Bout0J























