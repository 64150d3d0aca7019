Bout0J























