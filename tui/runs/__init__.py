"""What is kept between watches: past loads."""
