"""Migration that adds the memory of repositories: the refs of writers, and the packs of git objects that they need.

A ref belongs to the role that created it. Whoever may read a repository reads the records of all of its writers, and
writes refs of its own. `visible_contents` replaces the policies for readers by functions with the same rules.
"""

# A pack continues the one before it, as a push continues a ref. A ref that is replaced, as by a purge, loses its packs
# in the same transaction. Names of refs are random, so nobody can guess one.

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import LiteralString

MEMORY: "Final[LiteralString]" = """
CREATE TABLE gitmem.memory_refs (
  repository int NOT NULL REFERENCES gitmem.repositories ON DELETE CASCADE, name text NOT NULL, commit text NOT NULL,
  owner regrole NOT NULL DEFAULT current_user::regrole, moved timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (repository, name));
CREATE TABLE gitmem.memory_packs (
  repository int NOT NULL, name text NOT NULL, number int NOT NULL, commit text NOT NULL, pack bytea NOT NULL,
  PRIMARY KEY (repository, name, number),
  FOREIGN KEY (repository, name) REFERENCES gitmem.memory_refs ON DELETE CASCADE);
ALTER TABLE gitmem.memory_refs ALTER name SET STATISTICS 0, ALTER commit SET STATISTICS 0;
ALTER TABLE gitmem.memory_packs ALTER name SET STATISTICS 0, ALTER commit SET STATISTICS 0,
  ALTER pack SET STATISTICS 0, ALTER pack SET STORAGE EXTERNAL;
ALTER TABLE gitmem.memory_refs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE gitmem.memory_packs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON gitmem.memory_refs, gitmem.memory_packs
  TO gitmem_reader, gitmem_publisher, gitmem_admin;
CREATE POLICY publish ON gitmem.memory_refs TO gitmem_publisher, gitmem_admin USING (true);
CREATE POLICY publish ON gitmem.memory_packs TO gitmem_publisher, gitmem_admin USING (true);
CREATE POLICY read ON gitmem.memory_refs FOR SELECT TO gitmem_reader
  USING (repository IN (SELECT repository FROM gitmem.grants));
CREATE POLICY read ON gitmem.memory_packs FOR SELECT TO gitmem_reader
  USING (repository IN (SELECT repository FROM gitmem.grants));
CREATE POLICY write ON gitmem.memory_refs TO gitmem_reader
  USING (repository IN (SELECT repository FROM gitmem.grants) AND pg_has_role(owner::oid, 'USAGE'));
CREATE POLICY write ON gitmem.memory_packs TO gitmem_reader
  USING (EXISTS (SELECT FROM gitmem.memory_refs refs WHERE refs.repository = memory_packs.repository
    AND refs.name = memory_packs.name AND pg_has_role(refs.owner::oid, 'USAGE')));
"""
