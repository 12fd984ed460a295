"""`mailgate doctor`: looks at everything a deployment rests on, says what is wrong and what to do, changes nothing."""
