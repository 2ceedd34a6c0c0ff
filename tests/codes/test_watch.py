"""What the pools are watched for: how much is left, how fast it goes, and when that is too little."""
