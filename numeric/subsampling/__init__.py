"""Privacy amplification by subsampling: batches drawn without replacement, and Poisson batches."""
