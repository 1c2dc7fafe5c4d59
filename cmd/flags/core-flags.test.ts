import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../core/content/index.ts';
import { addCoreFlags, type CoreFlags } from './core-flags.ts';
import { addWebhookFlags, type WebhookFlags } from './webhook-flags.ts';

function aCommand(): Command {
  return new Command().exitOverride().configureOutput({ writeErr: () => undefined });
}

function core(...args: readonly string[]): CoreFlags {
  return addCoreFlags(aCommand()).parse(args, { from: 'user' }).opts();
}

function webhooks(...args: readonly string[]): WebhookFlags {
  return addWebhookFlags(aCommand()).parse(args, { from: 'user' }).opts();
}

describe('core', () => {
  test('defaults are those of v0.16, and the limits of content', () => {
    expect(core()).toEqual({
      httpBindAddress: ':8080',
      httpExternalAddress: 'http://localhost:8080',
      healthProbeBindAddress: ':8081',
      provisionerStorageDir: '/var/cache/bundles',
      uploadStorage: 'directory',
      uploadStorageDir: '/var/cache/uploads',
      uploadStorageSyncInterval: 60_000,
      certificates: 'self',
      defaultConfirmData: false,
      defaultDeletionPolicy: 'Delete',
      servingCertificateLifetime: 90 * 24 * 3_600_000,
      contentServer: [],
      contentTokenAudience: [],
      provisioner: [],
      provisionerMemory: 256,
      provisionerUrl: [],
      provisionerUrlCredentials: [],
      provisionerUrlPlainHttp: [],
      allowUnscopedSourceSecrets: false,
      allowSourceAddress: [],
      denySourceAddress: [],
      requireServiceAccount: false,
      insecureRegistry: [],
      leaderElect: false,
      featureGates: { BundleDeploymentHealth: true },
      zapLogLevel: 'info',
      workers: 8,
      maxContentBytes: defaultLimits.maxBytes,
      maxContentEntries: defaultLimits.maxEntries,
      maxContentPathLength: defaultLimits.maxPathLength,
      maxContentDepth: defaultLimits.maxDepth,
      maxContentCompressionRatio: defaultLimits.maxCompressionRatio,
      contentTimeout: defaultLimits.timeout,
    });
  });

  test('takes every flag of v0.16', () => {
    const flags = core(
      '--http-bind-address=127.0.0.1:8080',
      '--http-external-address=https://core.rukpak-system.svc',
      '--bundle-ca-file=/etc/pki/tls/ca.crt',
      '--health-probe-bind-address=:8081',
      '--system-namespace=rukpak-system',
      '--unpack-image=quay.io/operator-framework/rukpak:main',
      '--base-upload-manager-url=https://core.rukpak-system.svc',
      '--leader-elect',
      '--provisioner-storage-dir=/var/cache/bundles',
      '--upload-storage-dir=/var/cache/uploads',
      '--upload-storage-sync-interval=2m',
      '--feature-gates=BundleDeploymentHealth=true',
      '--zap-devel',
      '--zap-encoder=json',
      '--zap-log-level=2',
      '--zap-stacktrace-level=panic',
      '--zap-time-encoding=rfc3339',
      '--kubeconfig=/home/me/.kube/config',
    );
    expect(flags).toMatchObject({
      httpBindAddress: '127.0.0.1:8080',
      bundleCaFile: '/etc/pki/tls/ca.crt',
      uploadStorageDir: '/var/cache/uploads',
      uploadStorageSyncInterval: 120_000,
      leaderElect: true,
      featureGates: { BundleDeploymentHealth: true },
      zapLogLevel: 'debug',
      kubeconfig: '/home/me/.kube/config',
    });
  });

  test('takes values in the next word too, as pflag does', () => {
    const args = ['--leader-elect', '--workers', '3', '--system-namespace', 'mine', '--zap-devel'];
    expect(core(...args)).toMatchObject({
      leaderElect: true,
      workers: 3,
      systemNamespace: 'mine',
    });
  });

  test('collects what may be repeated', () => {
    const flags = core(
      '--insecure-registry=localhost:5000',
      '--insecure-registry=127.0.0.1',
      '--content-server=https://a.example,https://b.example',
    );
    expect(flags.insecureRegistry).toEqual(['localhost:5000', '127.0.0.1']);
    expect(flags.contentServer).toEqual(['https://a.example', 'https://b.example']);
  });

  test.each([
    ['--leader-elect=maybe', 'It must be true or false.'],
    ['--upload-storage=memory', 'Allowed choices are directory, cluster.'],
    ['--max-upload-bytes=64Mi', 'It must be a whole number of at least 1.'],
    ['--workers=0', 'It must be a whole number of at least 1.'],
    ['--content-timeout=0s', 'It must be from 1ms to 24h.'],
    ['--certificates=acme', 'Allowed choices are self, cert-manager, service-ca.'],
    ['--serving-certificate-lifetime=59s', 'It must be from 1m to 87600h.'],
    ['--serving-certificate-lifetime=90d', 'It must be a duration such as 2160h.'],
    ['--content-timeout=soon', 'It must be a duration such as 30s or 1m30s.'],
    ['--feature-gates=Nope=true', 'There is no feature gate "Nope"'],
    ['--http-bind-address=8080', 'use ":8443" or "host:8443"'],
    ['--http-external-address=core.svc', 'It must be a URL such as https://host:port.'],
    ['--content-server=core.svc', 'It must be a URL such as https://host:port.'],
    ['--max-content-bytes=64Mi', 'It must be a whole number of at least 1.'],
    ['--default-prune-max-percent=101', 'It must be a whole number from 0 to 100.'],
    ['--default-prune-max-percent=50%', 'It must be a whole number from 0 to 100.'],
    ['--default-confirm-data=50', 'It must be true or false.'],
    ['--default-deletion-policy=Keep', 'Allowed choices are Delete, Orphan, KeepCRDs.'],
  ])('refuses %s in one line that names the flag', (arg, reason) => {
    let message = '';
    try {
      core(arg);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(`option '${arg.slice(0, arg.indexOf('='))} `);
    expect(message).toContain(reason);
    expect(message.split('\n')).toHaveLength(1);
  });

  test.each(['--no-such-flag', '--leader-elec', 'argument'])('refuses %s', (arg) => {
    expect(() => core(arg)).toThrow();
  });
});

describe('webhooks', () => {
  test('take every flag of v0.16', () => {
    const flags = webhooks(
      '--metrics-bind-address=:8080',
      '--health-probe-bind-address=:8081',
      '--system-namespace=rukpak-system',
      '--enable-http2',
      '--leader-elect',
    );
    expect(flags).toMatchObject({
      metricsBindAddress: ':8080',
      healthProbeBindAddress: ':8081',
      systemNamespace: 'rukpak-system',
    });
    expect(webhooks('--enable-http2=false')).toEqual({ ...webhooks(), enableHttp2: 'false' });
  });

  test.each(['--webhook-bind-address=9443', '--metrics-bind-address=x'])('refuse %s', (arg) => {
    expect(() => webhooks(arg)).toThrow(/^error: option '--\w+-bind-address <address>' argument/);
  });

  test('need a port', () => {
    expect(() => webhooks('--webhook-bind-address=0')).toThrow(/address to listen on/);
  });
});

test('an empty name allows no client of the webhooks: it allowed all of the CA', () => {
  expect(webhooks('--client-name=a,b', '--client-name=c').clientName).toEqual(['a', 'b', 'c']);
  expect(webhooks().clientName).toEqual([]);
  expect(() => webhooks('--client-name=')).toThrow('It must not be empty');
});
