"""Which model a run or a query uses while the index and the settings name different ones.

Only `gitmem index` changes the model of an index: it builds a second index next to the first. Until that is complete,
queries and hooks go on with the first one, if its model is the bundled one. A provider that is no longer selected is
never asked, and what it made is not replaced in passing: a hook may run without the variable that selects it.
"""

from gitmem.errors import OtherModel
from gitmem.indexing.fingerprint import dimensions_of, is_made_with, model_of
from gitmem.settings import BUNDLED
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace


def with_model_of(workspace: Workspace, manifest: Manifest | None) -> Workspace:
    """Return a workspace whose settings select the model that made the index, if that is the bundled one.

    Raises OtherModel if neither the selected provider nor the bundled one made the index and only `gitmem index` may
    change that.
    """
    settings = workspace.settings
    # Only the bundled model leaves its dimensions out. An index of another version of it is rebuilt at any time.
    is_bundled = manifest is not None and not dimensions_of(manifest.fingerprint)
    if manifest is None or (settings.provider == BUNDLED and is_bundled):
        return workspace
    if is_made_with(manifest.fingerprint, settings):
        return workspace
    # The bundled model is always there and sends nothing, so it can go on serving its own index.
    as_bundled = settings._replace(provider=BUNDLED)
    if is_made_with(manifest.fingerprint, as_bundled):
        return workspace._replace(settings=as_bundled)
    raise OtherModel(
        f"the index was made with `{model_of(manifest.fingerprint)}`, not with the selected provider "
        f"`{settings.provider}` and its settings",
        hint="select that provider again, or run `gitmem index`",
    )
