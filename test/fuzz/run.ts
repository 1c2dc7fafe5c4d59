/** `npm run fuzz -- [target…] [--minutes N] [--seed S]`: attacks every parser, or those named. */
import { parseArgs } from 'node:util';
import { attack } from './campaign/campaign.ts';
import { corpusFolder, keep } from './corpus.ts';
import { useReference } from './reference/reference.ts';
import { targets, targetsModule } from './targets/index.ts';

const usage = `usage: npm run fuzz -- [target…] [--minutes N] [--seed S]
  --minutes  time for each target (default 1)
  --seed     number that the inputs are made from (default: another one each time)
targets: ${targets.map(({ name }) => name).join(' ')}`;

interface Wanted {
  readonly names: readonly string[];
  readonly minutes: number;
  readonly seed: number;
}

function wanted(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
  });
  const known = targets.map(({ name }) => name);
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`no such target: ${unknown.join(', ')}`);
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is no time`);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed ${values.seed} is no whole number`);
  return { names: positionals.length === 0 ? known : positionals, minutes, seed };
}

async function run({ names, minutes, seed }: Wanted): Promise<void> {
  console.log(`seed ${seed}, ${minutes} min for each target`);
  if (!(await useReference())) console.log('no go command: nothing is compared with Go');
  const rows: Record<string, { readonly inputs: number; readonly findings: number }> = {};
  for (const target of names) {
    let findings = 0;
    const inputs = await attack({
      module: targetsModule,
      target,
      time: minutes * 60_000,
      seed,
      onFinding: async ({ problem, input }) => {
        findings += 1;
        console.log(`${target}: ${problem}\n  ${await keep(target, input, corpusFolder)}`);
      },
    });
    rows[target] = { inputs, findings };
    console.log(`${target}: ${inputs} inputs, ${findings} findings`);
    if (findings > 0) process.exitCode = 1;
  }
  console.table(rows);
}

// Exit handlers stop the started processes; a signal alone would not run them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

let options: Wanted | undefined;
try {
  options = wanted(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
if (options !== undefined) await run(options);
