-- Constants and component of {{ v.top }} for VHDL designs that use it: use work.{{ v.top }}_pkg.all;
library ieee;
use ieee.std_logic_1164.all;

package {{ v.top }}_pkg is
{%- if !v.stateful %}

    -- Clocks from a sample to its result, and from one sample to the next
    constant {{ v.macro_name() }}_LATENCY : natural := {{ v.latency }};
    constant {{ v.macro_name() }}_INITIATION_INTERVAL : positive := {{ v.interval }};
{%- endif %}

    -- Place and type of an element: lowest bit on its port, bits, fractional bits, and the transfer in which it begins
    type {{ v.top }}_element_place is record
        lsb : natural;
        width : natural;
        is_signed : boolean;
        frac_bits : integer;
        transfer : natural;
    end record;
    type {{ v.top }}_element_places is array (natural range <>) of {{ v.top }}_element_place;
{%- for side in v.sides %}
{%- if !side.elements.is_empty() %}

    constant {{ v.macro_name() }}_{{ side.vhdl }} : {{ v.top }}_element_places(0 to {{ side.elements.len() - 1 }}) := (
{%- for e in side.elements %}
        {{ loop.index0 }} => (lsb => {{ e.lsb }}, width => {{ e.width }}, is_signed => {{ e.signed }}, frac_bits => {{ e.frac_bits }}, transfer => {{ e.transfer }}){% if !loop.last %},{% endif %}  -- {{ e.name }}{% if e.width > 0 %} on {{ e.port }}{% endif %}
{%- endfor %}
    );
{%- endif %}
{%- endfor %}

    component {{ v.top }} is
{%- if !v.ports.is_empty() %}
        port (
{%- for port in v.ports %}
            {{ port.name }} : {% if port.input %}in {% else %}out{% endif %} {% if let Some(hi) = port.hi %}std_logic_vector({{ hi }} downto 0){% else %}std_logic{% endif %}{% if !loop.last %};{% endif %}
{%- endfor %}
        );
{%- endif %}
    end component {{ v.top }};
end package {{ v.top }}_pkg;
