# Paths are relative to this folder; the package is for designs that use {{ v.top }}, which does not need it.
rtl/{{ v.top }}_pkg.vhd
rtl/{{ v.top }}.vhd
