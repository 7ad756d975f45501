# Paths are relative to this folder.
rtl/{{ v.top }}.v
