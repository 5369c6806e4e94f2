"""From train facts and a model to a trained model, through any interruption."""
