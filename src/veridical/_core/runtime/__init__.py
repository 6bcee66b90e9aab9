"""What running code needs: files, threads, progress, seeds, optional libraries."""
