Bout0J?Â•¶Ô@5¶ÞHz
