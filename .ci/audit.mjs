// Fails where a production dependency has a known vulnerability of severity high or critical. The
// answer is the registry's: where it gives none, that is one line, and no failure.
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  timeout: 60_000,
  maxBuffer: 2 ** 27,
});

function reportIn(text) {
  try {
    const report = JSON.parse(text);
    return report.metadata?.vulnerabilities === undefined ? undefined : report;
  } catch {
    return undefined;
  }
}

const report = reportIn(stdout ?? '');
if (report === undefined) {
  console.log('audit: skipped, the registry does not answer audits');
} else {
  const grave = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) =>
    ['high', 'critical'].includes(severity),
  );
  for (const { name, severity, range } of grave)
    console.log(`audit: ${severity}: ${name} ${range}`);
  console.log(`audit: ${grave.length} grave vulnerabilities in production dependencies`);
  if (grave.length > 0) process.exitCode = 1;
}
