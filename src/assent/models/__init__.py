"""Models, one formula a file: each turns a question into vectors and names a geometry."""

from assent.models.base import Model, ModelSettings
from assent.models.registry import create, names, settings_of

__all__ = ["Model", "ModelSettings", "create", "names", "settings_of"]
