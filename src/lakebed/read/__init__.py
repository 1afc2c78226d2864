"""Which data files a filter needs: predicates, what is known of files, and the plan of a filtered read. No Spark."""
