-- The bench {{ v.bench }} as a test of VUnit (sim/run.py).
library vunit_lib;
context vunit_lib.vunit_context;

entity {{ v.bench }}_vunit is
    generic (runner_cfg : string; vectors : string := ".");
end entity;

architecture simulation of {{ v.bench }}_vunit is
    signal done : boolean;
begin
    bench : entity work.{{ v.bench }} generic map (vectors => vectors) port map (done => done);

    main : process
    begin
        test_runner_setup(runner, runner_cfg);
        -- A row that differs ends the simulation with a failure.
        wait until done;
        test_runner_cleanup(runner);
    end process;
end architecture;
