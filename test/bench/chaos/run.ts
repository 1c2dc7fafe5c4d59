/** `npm run chaos -- [--kills N] [--only fault,…] [--seed S]`: see docs/reliability.md. */
import { parseArgs } from 'node:util';
import { ClusterClient } from '../../helpers/cluster-client.ts';
import { median, type Row, rounded } from '../report.ts';
import { startBench } from '../scale/bench.ts';
import { faults } from './faults/index.ts';
import { type Round, runRounds } from './rounds.ts';
import { inWorld } from './world/world.ts';

const usage = `usage: npm run chaos -- [flags]
  --kills     number of faults (default 50)
  --only      faults to choose from, separated by commas (default: all)
  --seed      number that the order and the moments are made from (default: another one each time)
  --apps      number of apps (default 20)
  --foreign   number of foreign objects that change all the time (default 500)
  --patience  seconds that a recovery may take (default 900)
faults: ${faults.map(({ name }) => name).join(' ')}`;

const options = {
  kills: { type: 'string', default: '50' },
  only: { type: 'string' },
  seed: { type: 'string', default: `${Date.now() % 1_000_000_000}` },
  apps: { type: 'string', default: '20' },
  foreign: { type: 'string', default: '500' },
  patience: { type: 'string', default: '900' },
} as const;

type Flags = Readonly<Record<'kills' | 'seed' | 'apps' | 'foreign' | 'patience', number>> & {
  readonly only: readonly string[];
};

function flagsOf(args: readonly string[]): Flags {
  const { only, ...values } = parseArgs({ args: [...args], options }).values;
  const known = faults.map(({ name }) => name);
  const chosen = only === undefined ? known : only.split(',');
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`);
  const number = (name: keyof typeof values): number => {
    const value = Number(values[name]);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Error(`--${name} ${values[name]} is no number`);
    return value;
  };
  const [kills, seed] = [number('kills'), number('seed')];
  const [apps, foreign, patience] = [number('apps'), number('foreign'), number('patience')];
  return { kills, seed, apps, foreign, patience, only: chosen };
}

async function run({ only, patience, ...flags }: Flags): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`seed ${flags.seed}`);
  await using bench = await startBench();
  const rounds = await inWorld(bench, flags, async (world) => {
    const chosen = faults.filter((fault) => {
      if (!only.includes(fault.name)) return false;
      const reason = fault.unavailable?.(world);
      if (reason !== undefined) say(`${fault.name} is left out: ${reason}`);
      return reason === undefined;
    });
    const all = await runRounds(world, {
      ...flags,
      faults: chosen,
      patience: patience * 1000,
      onRound: ({ fault, recovery, violations }) => {
        say(`${fault}: ${rounded(recovery)} s${violations.map((each) => `\n  ${each}`).join('')}`);
      },
    });
    if (all.some(({ violations }) => violations.length > 0)) say(await world.core.log());
    return all;
  });
  report(rounds, flags.seed);
  if (rounds.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
}

function report(rounds: readonly Round[], seed: number): void {
  const rows: Record<string, Row> = {};
  for (const [fault, group] of Map.groupBy(rounds, (round) => round.fault)) {
    const times = group.map(({ recovery }) => recovery);
    rows[fault] = {
      count: group.length,
      'median s': rounded(median(times)),
      'max s': rounded(Math.max(...times)),
      violations: group.filter(({ violations }) => violations.length > 0).length,
    };
  }
  console.table(rows);
  console.log(JSON.stringify({ benchmark: 'chaos', seed, kills: rounds.length, faults: rows }));
}

// Exit handlers stop the started processes; a signal alone would not run them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

let flags: Flags | undefined;
try {
  flags = flagsOf(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
if (flags !== undefined) {
  try {
    await run(flags);
  } finally {
    await ClusterClient.closeAll();
  }
}
