// @module-tag process
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const audit = join(import.meta.dirname, '../../.ci/audit.mjs');

/** With an npm that prints so and fails, as it does for vulnerabilities and for errors. */
function run(printed: string) {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\ncat <<'EOF'\n${printed}\nEOF\nexit 1\n`, {
    mode: 0o755,
  });
  const PATH = `${folder}${delimiter}${process.env['PATH']}`;
  const { status, stdout } = spawnSync(process.execPath, [audit], {
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  return { status, stdout };
}

test('a grave vulnerability fails, others do not', () => {
  const vulnerabilities = {
    bad: { name: 'bad', severity: 'high', range: '<2.0.0' },
    odd: { name: 'odd', severity: 'moderate', range: '*' },
  };
  const report = { vulnerabilities, metadata: { vulnerabilities: { high: 1, moderate: 1 } } };
  expect(run(JSON.stringify(report))).toEqual({
    status: 1,
    stdout: 'audit: high: bad <2.0.0\naudit: 1 grave vulnerabilities in production dependencies\n',
  });
  const { odd } = vulnerabilities;
  expect(run(JSON.stringify({ ...report, vulnerabilities: { odd } }))).toMatchObject({ status: 0 });
});

test.each(['', 'npm error audit endpoint returned an error', '{"error":{"code":"ENOAUDIT"}}'])(
  'a registry without audits is a line, and no failure: %j',
  (printed) => {
    expect(run(printed)).toEqual({
      status: 0,
      stdout: 'audit: skipped, the registry does not answer audits\n',
    });
  },
);
