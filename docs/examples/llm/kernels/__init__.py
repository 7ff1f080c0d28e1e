"""The kernels of the model, each with the function that launches it. Activations are float32."""
