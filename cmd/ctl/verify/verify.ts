import { Command } from 'commander';
import { addClusterFlags, addServerFlags, type ClusterFlags, type ServerFlags } from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';
import { type Check, checkLine } from './check.ts';

interface VerifyFlags extends ClusterFlags, ServerFlags, OutputFlags {
  readonly systemNamespace: string;
  readonly pre?: true;
}

/** `rukpakctl verify`: checks the health of the installation. Writes nothing. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .alias('check')
    .option('--pre', 'Check, before an installation, whether this user can install on this cluster')
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
  return addServerFlags(addClusterFlags(command)).addOption(outputOption()).action(verify);
}

async function verify(flags: VerifyFlags): Promise<void> {
  const [{ withCluster }, { runChecks }, { preCheckers }] = await Promise.all([
    import('../cluster.ts'),
    import('./run-checks.ts'),
    import('./pre-checks.ts'),
  ]);
  const { systemNamespace } = flags;
  const report = new Report(flags);
  const checks: Check[] = [];
  await withCluster(flags, async (cluster) => {
    const context = { cluster, systemNamespace, server: flags, signal: cluster.signal };
    const running = flags.pre === true ? runChecks(context, preCheckers) : runChecks(context);
    await report.lines(linesOf(running, checks));
  });
  const count = (wanted: Check['state']): number =>
    checks.filter(({ state }) => state === wanted).length;
  const [failed, warnings] = [count('failed'), count('warning')];
  await report.line(
    `${count('ok')} ok, ${warnings} warnings, ${failed} failed, ${count('skipped')} skipped`,
  );
  await report.result({ healthy: failed === 0, failed, warnings, checks });
  if (failed > 0) process.exitCode = 1;
}

/** Yields a line for each check when it is done; collects the checks. */
async function* linesOf(running: AsyncIterable<Check>, done: Check[]): AsyncGenerator<string> {
  for await (const check of running) {
    done.push(check);
    yield checkLine(check);
  }
}
