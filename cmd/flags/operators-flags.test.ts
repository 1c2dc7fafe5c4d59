import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addOperatorsFlags, type OperatorsFlags } from './operators-flags.ts';

function parse(...args: readonly string[]): OperatorsFlags {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  return addOperatorsFlags(command).parse(args, { from: 'user' }).opts();
}

test.each([
  [
    'catalogd',
    '--leader-elect',
    '--metrics-bind-address=127.0.0.1:8080',
    '--health-probe-bind-address=:8081',
    '--system-namespace=olm',
    '--catalogs-server-addr=:8083',
    '--http-external-address=http://catalogd-catalogserver.openshift-catalogd.svc',
    '--cache-dir=/var/cache/',
    '--gc-interval=12h',
    '--profiling',
    '--feature-gates=',
  ],
  [
    'operator-controller',
    '--leader-elect',
    '--metrics-bind-address=127.0.0.1:8080',
    '--health-probe-bind-address=:8081',
    '--cache-path=/var/cache',
    '--feature-gates=ForceSemverUpgradeConstraints=true',
  ],
])('every flag of %s in OpenShift 4.15 is accepted', (_, ...args) => {
  expect(parse(...args)).toMatchObject({
    leaderElect: true,
    metricsBindAddress: '127.0.0.1:8080',
    healthProbeBindAddress: ':8081',
    featureGates: { ForceSemverUpgradeConstraints: true },
  });
});

test.each(['true', 'false'])('--profiling=%s takes no argument that follows', (value) => {
  expect(parse(`--profiling=${value}`, '--leader-elect=false')).toMatchObject({
    leaderElect: false,
  });
});

test.each([
  ['cache-path', 'No effect: Operators are resolved from --cache-dir'],
  ['profiling', 'No effect: pprof is a tool for Go'],
])('the help says that --%s has no effect', (name, text) => {
  const { options } = addOperatorsFlags(new Command());
  expect(options.find((each) => each.name() === name)?.description).toContain(text);
});
