{% for line in about %}-- {{ line }}
{% endfor %}
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity {{ top }} is
    port (
        aclk : in  std_logic;
        aresetn : in  std_logic;
        s_axis_tdata : in  std_logic_vector{{ in_data }};
        s_axis_tvalid : in  std_logic;
        s_axis_tready : out std_logic;
        s_axis_tlast : in  std_logic;
{%- if let Some(user) = user %}
        s_axis_tuser : in  std_logic_vector{{ user }};
        m_axis_tuser : out std_logic_vector{{ user }};
{%- endif %}
        m_axis_tdata : out std_logic_vector{{ out_data }};
        m_axis_tvalid : out std_logic;
        m_axis_tready : in  std_logic;
        m_axis_tlast : out std_logic
    );
end entity {{ top }};

architecture rtl of {{ top }} is
    signal sample : std_logic_vector{{ sample }}{% if in_beats.is_some() %} := (others => '0'){% endif %};
    signal sample_valid : std_logic{% if in_beats.is_some() %} := '0'{% endif %};
    signal sample_flags : std_logic_vector{{ flag_bits }};
{%- if let Some(beats) = in_beats %}
    signal sample_beats : unsigned{{ beats.counter }} := (others => '0');
    signal accept, complete : std_logic;
{%- endif %}
{%- if !stall || in_beats.is_some() %}
    signal take : std_logic;
{%- endif %}
    signal ready : std_logic;
{%- if stall %}
    signal advance : std_logic;
{%- endif %}
{%- if let Some(width) = core_in %}
    signal core_in : std_logic_vector{{ width }};
{%- endif %}
{%- if let Some(width) = core_out %}
    signal core_out : std_logic_vector{{ width }};
    signal result_data : std_logic_vector{{ width }};
{%- endif %}
{%- if latency > 0 %}
    signal valid : std_logic_vector{{ valid }} := (others => '0');
    signal flags : std_logic_vector{{ flags }};
{%- endif %}
{%- if let Some(fifo) = fifo %}
    subtype word is std_logic_vector{{ word }};
    type words is array (0 to {{ fifo.last_place }}) of word;
    signal fifo : words;
    signal put_at, get_at : unsigned{{ fifo.pointer }} := (others => '0');
    signal held, credits : unsigned{{ fifo.count }} := (others => '0');
    signal put, get : std_logic;
{%- endif %}
    signal result : std_logic_vector{{ word }};
    signal result_valid : std_logic;
    signal payload : std_logic_vector{{ payload }};
{%- if let Some(beats) = out_beats %}
    type beats is array (0 to {{ beats.last }}) of std_logic_vector{{ out_data }};
    signal beat_data : beats;
    signal beat : unsigned{{ beats.counter }} := (others => '0');
    signal last_beat : std_logic;
{%- endif %}
begin
    s_axis_tready <= ready;
{%- if let Some(beats) = in_beats %}

    -- The beats of a sample; those that a packet's early end leaves out are zero
    accept <= s_axis_tvalid and ready;
    complete <= '1' when s_axis_tlast = '1' or sample_beats = {{ beats.last }} else '0';
    take <= accept and complete;
    process (aclk)
    begin
        if rising_edge(aclk) then
            if accept = '1' then
                sample_flags(0) <= s_axis_tlast;
                case to_integer(sample_beats) is
{%- for slice in beats.slices %}
                    when {{ loop.index0 }} =>
                        {{ slice }} <= s_axis_tdata;
{%- if loop.first %}
                        {{ beats.rest }} <= (others => '0');
{%- if self.has_user() %}
                        sample_flags(sample_flags'high downto 1) <= s_axis_tuser;
{%- endif %}
{%- endif %}
{%- endfor %}
                    when others => null;
                end case;
            end if;
            if aresetn = '0' then
                sample_beats <= (others => '0');
                sample_valid <= '0';
            else
                if accept = '1' then
                    if complete = '1' then
                        sample_beats <= (others => '0');
                    else
                        sample_beats <= sample_beats + 1;
                    end if;
                end if;
{%- if stall %}
                if take = '1' then
                    sample_valid <= '1';
                elsif advance = '1' then
                    sample_valid <= '0';
                end if;
{%- else %}
                sample_valid <= take;
{%- endif %}
            end if;
        end if;
    end process;
{%- if stall %}
    ready <= advance or not sample_valid;
{%- endif %}
{%- else %}

    -- A sample is one beat
    sample <= s_axis_tdata;
    sample_flags(0) <= s_axis_tlast;
{%- if self.has_user() %}
    sample_flags(sample_flags'high downto 1) <= s_axis_tuser;
{%- endif %}
{%- if stall %}
    sample_valid <= s_axis_tvalid;
    ready <= advance;
{%- else %}
    sample_valid <= s_axis_tvalid and ready;
    take <= sample_valid;
{%- endif %}
{%- endif %}
{%- for a in in_assignments %}
    {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if !connections.is_empty() %}

    u_core : entity work.{{ core }}
        port map (
{%- for connection in connections %}
            {{ connection }}
{%- endfor %}
        );
{%- endif %}
{%- if latency > 0 %}

    -- What travels beside the data
    process (aclk)
    begin
        if rising_edge(aclk) then
{%- if stall %}
            if advance = '1' then
                valid <= {{ valid_next }};
                flags <= {{ flags_next }};
            end if;
{%- else %}
            valid <= {{ valid_next }};
            flags <= {{ flags_next }};
{%- endif %}
            if aresetn = '0' then
                valid <= (others => '0');
            end if;
        end if;
    end process;
{%- endif %}
{%- if let Some(fifo) = fifo %}

    -- Results that wait. A sample enters only if there is a place for its result.
    put <= {{ result_valid }};
    ready <= '1' when credits /= 0 else '0';
    process (aclk)
    begin
        if rising_edge(aclk) then
            if put = '1' then
                fifo(to_integer(put_at)) <= {% if self.has_core_out() %}core_out & {% endif %}{{ result_flags }};
            end if;
            if aresetn = '0' then
                put_at <= (others => '0');
                get_at <= (others => '0');
                held <= (others => '0');
                credits <= to_unsigned({{ fifo.full }}, credits'length);
            else
                if put = '1' then
                    if put_at = {{ fifo.last_place }} then
                        put_at <= (others => '0');
                    else
                        put_at <= put_at + 1;
                    end if;
                end if;
                if get = '1' then
                    if get_at = {{ fifo.last_place }} then
                        get_at <= (others => '0');
                    else
                        get_at <= get_at + 1;
                    end if;
                end if;
                if put = '1' and get = '0' then
                    held <= held + 1;
                elsif put = '0' and get = '1' then
                    held <= held - 1;
                end if;
                if take = '1' and get = '0' then
                    credits <= credits - 1;
                elsif take = '0' and get = '1' then
                    credits <= credits + 1;
                end if;
            end if;
        end if;
    end process;
    result <= fifo(to_integer(get_at));
    result_valid <= '1' when held /= 0 else '0';
{%- else %}

    -- The result as it leaves the pipeline
    result <= {% if self.has_core_out() %}core_out & {% endif %}{{ result_flags }};
    result_valid <= {{ result_valid }};
{%- endif %}

    -- The result as beats
{%- if self.has_core_out() %}
    result_data <= {{ data_part }};
{%- endif %}
{%- for a in out_assignments %}
    {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if let Some(beats) = out_beats %}
{%- for slice in beats.slices %}
    beat_data({{ loop.index0 }}) <= {{ slice }};
{%- endfor %}
    last_beat <= '1' when beat = {{ beats.last }} else '0';
    process (aclk)
    begin
        if rising_edge(aclk) then
            if aresetn = '0' then
                beat <= (others => '0');
            elsif result_valid = '1' and m_axis_tready = '1' then
                if last_beat = '1' then
                    beat <= (others => '0');
                else
                    beat <= beat + 1;
                end if;
            end if;
        end if;
    end process;
    m_axis_tdata <= beat_data(to_integer(beat));
    m_axis_tlast <= result(0) and last_beat;
{%- else %}
    m_axis_tdata <= payload;
    m_axis_tlast <= result(0);
{%- endif %}
{%- if self.has_user() %}
    m_axis_tuser <= {{ user_part }};
{%- endif %}
    m_axis_tvalid <= result_valid;
{%- if stall %}
    advance <= not result_valid or (m_axis_tready{% if self.has_out_beats() %} and last_beat{% endif %});
{%- else %}
    get <= result_valid and m_axis_tready{% if self.has_out_beats() %} and last_beat{% endif %};
{%- endif %}
end architecture rtl;
