{% for line in v.about %}-- {{ line }}
{% endfor %}
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity {{ v.top }} is
    port (
        {{ v.names.clock }} : in  std_logic;
        {{ v.names.reset }} : in  std_logic;
        {{ v.names.input }}_tdata : in  std_logic_vector{{ v.in_data }};
        {{ v.names.input }}_tvalid : in  std_logic;
        {{ v.names.input }}_tready : out std_logic;
        {{ v.names.input }}_tlast : in  std_logic;
{%- if let Some(user) = v.user %}
        {{ v.names.input }}_tuser : in  std_logic_vector{{ user }};
{%- endif %}
        {{ v.names.output }}_tdata : out std_logic_vector{{ v.out_data }};
        {{ v.names.output }}_tvalid : out std_logic;
        {{ v.names.output }}_tready : in  std_logic;
        {{ v.names.output }}_tlast : out std_logic{% if let Some(user) = v.user %};
        {{ v.names.output }}_tuser : out std_logic_vector{{ user }}{% endif %}
    );
    attribute X_INTERFACE_INFO : string;
    attribute X_INTERFACE_INFO of {{ v.names.clock }} : signal is "xilinx.com:signal:clock:1.0 {{ v.names.clock }} CLK";
    attribute X_INTERFACE_INFO of {{ v.names.reset }} : signal is "xilinx.com:signal:reset:1.0 {{ v.names.reset }} RST";
    attribute X_INTERFACE_PARAMETER : string;
    attribute X_INTERFACE_PARAMETER of {{ v.names.clock }} : signal is
        "ASSOCIATED_BUSIF {{ v.names.input }}:{{ v.names.output }}, ASSOCIATED_RESET {{ v.names.reset }}";
    attribute X_INTERFACE_PARAMETER of {{ v.names.reset }} : signal is "POLARITY ACTIVE_LOW";
end entity {{ v.top }};

architecture rtl of {{ v.top }} is
    signal sample : std_logic_vector{% if v.passing.is_some() %}{{ v.in_data }}{% else %}{{ v.sample }}{% endif %}{% if v.in_beats.is_some() %} := (others => '0'){% endif %};
    signal sample_valid : std_logic{% if v.in_beats.is_some() %} := '0'{% endif %};
    signal sample_flags : std_logic_vector{{ v.flag_bits }};
{%- if v.keeps %}
    signal gathered : std_logic_vector{{ v.sample }} := (others => '0');
    signal gathered_valid : std_logic := '0';
    signal gathered_flags : std_logic_vector{{ v.flag_bits }};
    signal gathered_leaves : std_logic;
{%- endif %}
{%- if let Some(beats) = v.passing %}
    signal sample_beats : unsigned{{ beats.range }} := (others => '0');
    signal ended : std_logic := '0';
    signal first, last, waits, goes{% if v.stall %}, moves{% endif %} : std_logic;
{%- if let Some(user) = v.user %}
    signal sample_user : std_logic_vector{{ user }};
{%- endif %}
{%- else if let Some(beats) = v.in_beats %}
    signal sample_beats : unsigned{{ beats.counter.range }} := (others => '0');
    signal accept, complete : std_logic;
{%- endif %}
{%- if !v.stall || v.in_beats.is_some() %}
    signal take : std_logic;
{%- endif %}
    signal ready : std_logic;
{%- if v.stall %}
    signal advance, result_free : std_logic;
{%- else if v.passing.is_some() %}
    signal advance : std_logic;
{%- endif %}
{%- if v.gated %}
    signal core_ready : std_logic;
{%- if v.stall && v.passing.is_none() %}
    signal sample_leaves : std_logic;
{%- endif %}
{%- if v.entered == "entered" %}
    signal entered : std_logic;
{%- endif %}
{%- endif %}
{%- if let Some(range) = v.core_in %}
    signal core_in : std_logic_vector{{ range }};
{%- endif %}
{%- if let Some(range) = v.core_out %}
    signal core_out : std_logic_vector{{ range }};
    signal result_data : std_logic_vector{{ range }};
{%- endif %}
{%- if v.latency > 0 %}
    signal valid : std_logic_vector{{ v.valid.range }} := (others => '0');
    signal flags : std_logic_vector{{ v.flags.range }};
{%- endif %}
{%- if let Some(fifo) = v.fifo %}
    subtype word is std_logic_vector{{ v.word }};
    type words is array (0 to {{ fifo.last_place }}) of word;
    signal fifo : words;
    signal put_at, get_at : unsigned{{ fifo.pointer.range }} := (others => '0');
    signal held : unsigned{{ fifo.count.range }} := (others => '0');
    signal credits : unsigned{{ fifo.count.range }} := to_unsigned({{ fifo.count.last }}, {{ fifo.count_width }});
    signal put, get : std_logic;
{%- endif %}
    signal result : std_logic_vector{{ v.word }};
    signal result_valid : std_logic{% if v.holds_result %} := '0'{% endif %};
    signal payload : std_logic_vector{{ v.payload }};
{%- if let Some(beats) = v.out_beats %}
    type beats is array (0 to {{ beats.counter.last }}) of std_logic_vector{{ v.out_data }};
    signal beat_data : beats;
    signal beat : unsigned{{ beats.counter.range }} := (others => '0');
    signal last_beat : std_logic;
{%- endif %}
begin
    {{ v.names.input }}_tready <= ready;
{%- if v.gated && v.stall && v.passing.is_none() %}
    sample_leaves <= core_ready and advance;
{%- endif %}
{%- if let Some(beats) = v.passing %}

    -- Transfers enter the core as they arrive: the first when the core accepts a sample, the others in the clocks after
    -- it; those that are missing after an early tlast are zero
    first <= '1' when sample_beats = 0 else '0';
    last <= '1' when sample_beats = {{ beats.last }} else '0';
    waits <= not first and not ended and not {{ v.names.input }}_tvalid;
{%- if v.stall %}
    moves <= not {{ v.done }} or result_free;
    advance <= moves and not waits;
    ready <= moves and core_ready when first = '1' else moves and not ended;
    goes <= ({{ v.names.input }}_tvalid and ready) or (ended and moves);
{%- else %}
    advance <= not waits;
    goes <= ({{ v.names.input }}_tvalid and ready) or ended;
    take <= sample_valid;
{%- endif %}
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if goes = '1' then
                if last = '1' then
                    sample_beats <= (others => '0');
                    ended <= '0';
                else
                    sample_beats <= sample_beats + 1;
                    ended <= ended or {{ v.names.input }}_tlast;
                end if;
            end if;
            if {{ v.names.reset }} = '0' then
                sample_beats <= (others => '0');
                ended <= '0';
            end if;
{%- if v.user.is_some() %}
            if first = '1' then
                sample_user <= {{ v.names.input }}_tuser;
            end if;
{%- endif %}
        end if;
    end process;
    sample <= (others => '0') when ended = '1' else {{ v.names.input }}_tdata;
    sample_valid <= goes and last;
    sample_flags(0) <= ended or {{ v.names.input }}_tlast;
{%- if v.user.is_some() %}
    {{ v.user_flags }} <= sample_user;
{%- endif %}
{%- else if let Some(beats) = v.in_beats %}

    -- Transfers of a sample; those that are missing after an early tlast are zero
    accept <= {{ v.names.input }}_tvalid and ready;
    complete <= '1' when {{ v.names.input }}_tlast = '1' or sample_beats = {{ beats.counter.last }} else '0';
    take <= accept and complete;
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if accept = '1' then
                {{ v.gathered }}_flags(0) <= {{ v.names.input }}_tlast;
                case to_integer(sample_beats) is
{%- for beat in beats.all %}
                    when {{ beat.label }} =>
                        {{ beat.slice }} <= {{ v.names.input }}_tdata;
{%- if loop.first %}
                        {{ beats.rest.target }} <= {{ beats.rest.value }};
{%- if v.user.is_some() %}
                        {{ v.user_flags }} <= {{ v.names.input }}_tuser;
{%- endif %}
{%- endif %}
{%- endfor %}
                    when others => null;
                end case;
            end if;
            if {{ v.names.reset }} = '0' then
                sample_beats <= (others => '0');
                {{ v.gathered }}_valid <= '0';
            else
                if accept = '1' then
                    if complete = '1' then
                        sample_beats <= (others => '0');
                    else
                        sample_beats <= sample_beats + 1;
                    end if;
                end if;
{%- if let Some(leaves) = v.leaves %}
                if take = '1' then
                    {{ v.gathered }}_valid <= '1';
                elsif {{ leaves }} = '1' then
                    {{ v.gathered }}_valid <= '0';
                end if;
{%- else %}
                sample_valid <= take;
{%- endif %}
            end if;
        end if;
    end process;
{%- if v.keeps %}

    -- A whole sample waits for the core while the next one is gathered
    gathered_leaves <= {{ v.sample_leaves }} or not sample_valid;
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if gathered_leaves = '1' then
                sample <= gathered;
                sample_flags <= gathered_flags;
                sample_valid <= gathered_valid;
            end if;
            if {{ v.names.reset }} = '0' then
                sample_valid <= '0';
            end if;
        end if;
    end process;
{%- endif %}
{%- if v.stall %}
    ready <= {{ v.leaves.unwrap_or_default() }} or not {{ v.gathered }}_valid;
{%- endif %}
{%- else %}

    -- A sample is one transfer
    sample <= {{ v.names.input }}_tdata;
    sample_flags(0) <= {{ v.names.input }}_tlast;
{%- if v.user.is_some() %}
    {{ v.user_flags }} <= {{ v.names.input }}_tuser;
{%- endif %}
{%- if v.stall %}
    sample_valid <= {{ v.names.input }}_tvalid;
    ready <= {{ v.sample_leaves }};
{%- else %}
    sample_valid <= {{ v.names.input }}_tvalid and ready;
    take <= sample_valid;
{%- endif %}
{%- endif %}
{%- for a in v.in_assignments %}
    {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if v.entered == "entered" %}
    entered <= sample_valid and core_ready;
{%- endif %}
{%- if !v.connections.is_empty() %}

    u_core : entity work.{{ v.core }}
        port map (
{%- for connection in v.connections %}
            {{ connection }}
{%- endfor %}
        );
{%- endif %}
{%- if v.latency > 0 %}

    -- Valid flag, tlast and tuser of each sample in the pipeline
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
{%- if v.waits %}
            if advance = '1' then
{%- endif %}
{%- for a in v.valid.moves %}
{% if v.waits %}    {% endif %}            {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- for a in v.flags.moves %}
{% if v.waits %}    {% endif %}            {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if v.waits %}
            end if;
{%- endif %}
            if {{ v.names.reset }} = '0' then
                valid <= (others => '0');
            end if;
        end if;
    end process;
{%- endif %}
{%- if let Some(fifo) = v.fifo %}

    -- Output FIFO. A sample is accepted only if a slot is free for its result.
    put <= {{ v.done }}{% if v.passing.is_some() %} and advance{% endif %};
{%- if v.passing.is_some() %}
    ready <= not ended when first = '0' else core_ready when credits /= 0 else '0';
{%- else if !v.gated %}
    ready <= '1' when credits /= 0 else '0';
{%- else if v.in_beats.is_some() %}
    ready <= {{ v.leaves.unwrap_or_default() }} or not {{ v.gathered }}_valid when credits /= 0 else '0';
{%- else %}
    ready <= core_ready when credits /= 0 else '0';
{%- endif %}
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if put = '1' then
                fifo(to_integer(put_at)) <= {{ v.outcome }};
            end if;
            if {{ v.names.reset }} = '0' then
                put_at <= (others => '0');
                get_at <= (others => '0');
                held <= (others => '0');
                credits <= to_unsigned({{ fifo.count.last }}, credits'length);
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
{%- else if v.holds_result %}

    -- Result that is sent; the pipeline continues with the next one
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if result_free = '1' then
                result <= {{ v.outcome }};
                result_valid <= {{ v.done }}{% if v.passing.is_some() %} and advance{% endif %};
            end if;
            if {{ v.names.reset }} = '0' then
                result_valid <= '0';
            end if;
        end if;
    end process;
{%- else %}

    -- Result at the end of the pipeline
    result <= {{ v.outcome }};
    result_valid <= {{ v.done }};
{%- endif %}

    -- Result as transfers
{%- if v.core_out.is_some() %}
    result_data <= {{ v.data_part }};
{%- endif %}
{%- for a in v.out_assignments %}
    {{ a.target }} <= {{ a.value }};
{%- endfor %}
{%- if let Some(beats) = v.out_beats %}
{%- for beat in beats.all %}
    beat_data({{ loop.index0 }}) <= {{ beat.slice }};
{%- endfor %}
    last_beat <= '1' when beat = {{ beats.counter.last }} else '0';
    process ({{ v.names.clock }})
    begin
        if rising_edge({{ v.names.clock }}) then
            if {{ v.names.reset }} = '0' then
                beat <= (others => '0');
            elsif result_valid = '1' and {{ v.names.output }}_tready = '1' then
                if last_beat = '1' then
                    beat <= (others => '0');
                else
                    beat <= beat + 1;
                end if;
            end if;
        end if;
    end process;
    {{ v.names.output }}_tdata <= beat_data(to_integer(beat));
    {{ v.names.output }}_tlast <= result(0) and last_beat;
{%- else %}
    {{ v.names.output }}_tdata <= payload;
    {{ v.names.output }}_tlast <= result(0);
{%- endif %}
{%- if v.user.is_some() %}
    {{ v.names.output }}_tuser <= {{ v.user_part }};
{%- endif %}
    {{ v.names.output }}_tvalid <= result_valid;
{%- if v.stall %}
    result_free <= not result_valid or ({{ v.names.output }}_tready{% if v.out_beats.is_some() %} and last_beat{% endif %});
{%- if v.passing.is_none() %}
    advance <= {% if v.holds_result %}not {{ v.done }} or {% endif %}result_free;
{%- endif %}
{%- else %}
    get <= result_valid and {{ v.names.output }}_tready{% if v.out_beats.is_some() %} and last_beat{% endif %};
{%- endif %}
end architecture rtl;
