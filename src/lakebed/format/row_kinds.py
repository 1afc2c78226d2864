"""Define row kinds: insert, update before, update after, delete (Paimon specification, "Row Kind")."""

#: The column that shows kinds, as in the table format's audit log.
ROW_KIND = "rowkind"
#: The kinds by their stored numbers: insert, update before, update after, delete.
KINDS = ("+I", "-U", "+U", "-D")
#: The numbers of those that add a row.
INSERTS = (0, 2)
