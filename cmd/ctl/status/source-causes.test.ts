import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import type { BundleSource, HTTPSource } from '../../../api/v1alpha1/index.ts';
import { SourceSecrets } from '../../../core/bundle/index.ts';
import type { SecretContent, Source } from '../../../core/contracts/source.ts';
import { errorMessage } from '../../../core/errors.ts';
import { ApiError } from '../../../core/platform/kube/index.ts';
import { connectionError } from '../../../core/registry/registry-errors.ts';
import { parseManifests } from '../../../core/sdk.ts';
import { createGitSource } from '../../../core/sources/git/git-source.ts';
import {
  createConfigMapsSource,
  createHttpSource,
  createImageSource,
} from '../../../core/sources/index.ts';
import {
  type Certificates,
  generateCertificates,
} from '../../../deploy/local/cluster/certificates.ts';
import { aFailing } from '../../../test/helpers/a-failing.ts';
import { anArchive } from '../../../test/helpers/archives.ts';
import { ConnectProxy } from '../../../test/helpers/connect-proxy.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { FileServer } from '../../../test/helpers/file-server.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { type PackServer, servePack } from '../../../test/helpers/pack-server.ts';
import { aSourceContext } from '../../../test/helpers/source-context.ts';
import { sourceTypes } from '../../../test/helpers/source-types.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { unreachedRows } from '../../../test/helpers/unreached-causes.ts';
import { cureOfBundle } from './known-causes.ts';
import { sourceCauses } from './source-causes.ts';

let files: FileServer;
let guarded: FileServer;
let registry: FakeRegistry;
let repository: PackServer;
let proxy: ConnectProxy;
let certificates: Certificates;

beforeAll(async () => {
  certificates = await generateCertificates();
  files = await FileServer.start();
  files.files.set('/app.tgz', await anArchive({ 'manifests/a.yaml': '' }));
  const user = { username: 'alice', password: 'secret' };
  guarded = await FileServer.start({ tls: certificates.server, user });
  registry = await FakeRegistry.start();
  repository = await servePack(Buffer.alloc(0), '1'.repeat(40));
  proxy = await ConnectProxy.start({ credentials: user });
});

afterAll(async () => {
  await Promise.all([files.stop(), guarded.stop(), registry.stop(), proxy.stop()]);
  await repository[Symbol.asyncDispose]();
});

interface Failure {
  readonly source: BundleSource;
  /** Of the Secret "login"; without it, there is none. */
  readonly secret?: Partial<SecretContent> | Error;
  readonly account?: ServiceAccountRef;
  readonly through?: Source;
}

const auth = { secret: { name: 'login' } };
const account = { namespace: 'team-a', name: 'deployer' };

function http(changes: Partial<HTTPSource> = {}): BundleSource {
  return { type: 'http', http: { url: `${files.url}/app.tgz`, ...changes } };
}

function image(tag = 'v1'): BundleSource {
  return { type: 'image', image: { ref: `${registry.host}/e2e/app:${tag}`, pullSecret: 'login' } };
}

function git(branch = 'main'): BundleSource {
  return { type: 'git', git: { repository: repository.url, ref: { branch } } };
}

/** Trusts what the tests' authority has signed. */
function trusting(data: Readonly<Record<string, string>> = {}): Partial<SecretContent> {
  const values = { 'ca.crt': certificates.ca.cert, ...data };
  const hosts = [new URL(guarded.url).host];
  return { data: new Map(Object.entries(values).map(([k, v]) => [k, Buffer.from(v)])), hosts };
}

/** What core writes about a Bundle whose source fails so. */
async function messageOf({ source, secret, account, through }: Failure): Promise<string> {
  const read = async (): Promise<SecretContent | undefined> => {
    if (secret instanceof Error) throw secret;
    return secret && { type: 'Opaque', data: new Map(), ...secret };
  };
  const secrets = new SourceSecrets({
    sources: sourceTypes,
    system: { read },
    as: ({ namespace }) => ({ place: `namespace "${namespace}"`, read }),
    readerOf: () => account ?? 'core',
    allowUnscoped: false,
  }).of(aStoredBundle({ source }));
  const insecureRegistries = [registry.host];
  const ofType: Readonly<Record<string, () => Source>> = {
    http: () => createHttpSource(),
    git: () => createGitSource(),
    configMaps: () => createConfigMapsSource(),
    image: () => createImageSource({ insecureRegistries, clock: new ManualClock() }),
  };
  const fetched = through ?? ofType[source.type]?.();
  const error: unknown = await fetched?.fetch(source, aSourceContext({ secrets })).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) throw new Error('the fetch did not fail');
  return `source bundle content: ${errorMessage(error)}`;
}

function denyEveryone(): void {
  registry.intercept = (_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
}

/** As its client names the failure of a connection. */
function registryMessage(code: string): string {
  const error = connectionError('r.example.com', Object.assign(new Error(code), { code }));
  return `Back-off pulling image "r.example.com/a:v9": ${error.message}`;
}

const checksum = `sha256:${'0'.repeat(64)}`;

const examples: Readonly<
  Record<string, readonly [failing: () => string | Failure | Promise<string>, cure: string]>
> = {
  'a Secret without hosts': [
    () => ({ source: http({ auth }), secret: {} }),
    'annotate Secret "login" in namespace rukpak-system with the hosts that may see it: core.rukpak.io/source-hosts',
  ],
  'a Secret for another host': [
    () => ({ source: http({ auth }), secret: { hosts: ['a.example.com'] }, account }),
    'annotate Secret "login" in namespace team-a with the hosts that may see it',
  ],
  'a Secret that the ServiceAccount may not read': [
    () => ({
      source: http({ auth }),
      secret: new ApiError(403, { reason: 'Forbidden', message: 'secrets "login" is forbidden' }),
      account,
    }),
    'kubectl create role read-login --namespace team-a --verb=get --resource=secrets --resource-name=login, and kubectl create rolebinding read-login --namespace team-a --role=read-login --serviceaccount=team-a:deployer',
  ],
  'a pull secret of another type': [
    () => ({ source: image(), secret: { type: 'Opaque' } }),
    'kubectl delete secret login --namespace rukpak-system, and kubectl create secret docker-registry login --namespace rukpak-system',
  ],
  'a pull secret without its key': [
    () => ({ source: image(), secret: { type: 'kubernetes.io/dockerconfigjson' }, account }),
    'correct Secret "login" in namespace team-a as the message says',
  ],
  'a Secret whose authority is none': [
    () => ({
      source: http({ auth }),
      secret: { data: new Map([['ca.crt', Buffer.from('x')]]), hosts: [new URL(files.url).host] },
    }),
    'correct a Secret that spec.template.spec.source names as the message says',
  ],
  'no Secret': [
    () => ({ source: http({ auth }) }),
    'create Secret "login" in namespace rukpak-system with the keys',
  ],
  'no Secret for git': [
    () => ({ source: { type: 'git', git: { ...git().git, auth } } as BundleSource }),
    'create Secret "login" in namespace rukpak-system with the keys',
  ],
  'no Secret in the namespace of the ServiceAccount': [
    () => ({ source: http({ auth }), account }),
    'create Secret "login" in namespace team-a with the keys',
  ],
  'no pull secret, and the registry wants one': [
    () => {
      denyEveryone();
      return messageOf({ source: image() });
    },
    'create Secret "login" in namespace rukpak-system with the keys',
  ],
  'an expired certificate': [
    () => registryMessage('CERT_HAS_EXPIRED'),
    'give the server a new certificate',
  ],
  'a certificate for another host': [
    () => registryMessage('ERR_TLS_CERT_ALTNAME_INVALID'),
    "use a name of the server's certificate",
  ],
  'an unknown authority': [
    () => ({ source: http({ url: `${guarded.url}/app.tgz` }) }),
    'put its CA as ca.crt into a Secret that spec.template.spec.source names',
  ],
  'a registry with an unknown authority': [
    () => registryMessage('self-signed certificate'),
    'put its CA as ca.crt into a Secret that spec.template.spec.source names',
  ],
  'plain HTTP': [() => registryMessage('ERR_SSL_WRONG_VERSION_NUMBER'), '--insecure-registry'],
  'a registry that wants a login': [
    () => {
      denyEveryone();
      const { ref = '' } = image().image ?? {};
      return messageOf({ source: { type: 'image', image: { ref } } });
    },
    'kubectl create secret docker-registry NAME --namespace rukpak-system',
  ],
  'a registry that refuses a login': [
    () => {
      denyEveryone();
      const auths = { [registry.host]: { username: 'u', password: 'p' } };
      const value = Buffer.from(JSON.stringify({ auths }));
      const data = new Map([['.dockerconfigjson', value]]);
      return messageOf({
        source: image(),
        secret: { type: 'kubernetes.io/dockerconfigjson', data },
      });
    },
    'correct the credentials in',
  ],
  'a server that refuses a login': [
    () => ({
      source: http({ url: `${guarded.url}/app.tgz`, auth }),
      secret: trusting({ username: 'bob', password: 'x' }),
    }),
    'correct the credentials in',
  ],
  'a denied address': [
    () => ({ source: http(), through: createHttpSource({ addresses: {} }) }),
    'an admin may allow the address: --allow-source-address',
  ],
  'a proxy that wants a login': [
    () => ({
      source: http({ url: 'https://files.example.com/app.tgz' }),
      through: createHttpSource({ proxy: { httpsProxy: proxy.address.replace('alice', 'bob') } }),
    }),
    'put user and password of the proxy into HTTPS_PROXY of core',
  ],
  'a proxy that does not reach the server': [
    () => ({
      source: http({ url: 'https://files.invalid/app.tgz' }),
      through: createHttpSource({ proxy: { httpsProxy: proxy.address } }),
    }),
    'check name, DNS, firewall and proxy',
  ],
  'no such tag': [
    () => {
      registry.intercept = () => false;
      return messageOf({ source: image('v9') });
    },
    'push e2e/app:v9, which core then finds by itself',
  ],
  'no such branch': [() => ({ source: git('none') }), 'push refs/heads/none, or correct'],
  'no such archive': [
    () => ({ source: http({ url: `${files.url}/none.tgz` }) }),
    'put the archive at the URL in spec.template.spec.source.http.url, or correct the URL',
  ],
  'no such ConfigMap': [
    () => ({ source: { type: 'configMaps', configMaps: [{ configMap: { name: 'nowhere' } }] } }),
    'kubectl create configmap nowhere --namespace rukpak-system',
  ],
  'no server': [
    () => ({ source: http({ url: 'http://127.0.0.1:1/app.tgz' }) }),
    'core cannot reach the server of its',
  ],
  'no registry': [
    () => registryMessage('ECONNREFUSED'),
    'core cannot reach the server of its image source: check name',
  ],
  'manifests that are no YAML': [
    () => {
      try {
        parseManifests('manifests/a.yaml', Buffer.from('a: 1\nb: 2\nc: [\n'));
      } catch (error) {
        return `get objects from bundle manifests: ${errorMessage(error)}`;
      }
      return '';
    },
    'correct line 4 of manifests/a.yaml in the content',
  ],
  'an archive that has changed': [
    () => ({ source: http({ checksum }) }),
    'the content has changed since core pinned it',
  ],
};

const messages: string[] = [];

test.each(Object.entries(examples))('%s', async (_, [failing, cure]) => {
  const failure = await failing();
  const message = typeof failure === 'string' ? failure : await messageOf(failure);
  messages.push(message);
  expect(cureOfBundle(message, aFailing()), message).toContain(cure);
});

test('with another system namespace no cure names the default one', () => {
  const failing = { ...aFailing(), systemNamespace: 'packages' };
  const cures = messages.map((message) => cureOfBundle(message, failing));
  expect(cures.filter((cure) => cure?.includes('rukpak-system'))).toEqual([]);
  expect(cures.filter((cure) => cure?.includes('packages')).length).toBeGreaterThan(5);
});

test('the Secret of a deployment with a ServiceAccount is in the namespace of the account', async () => {
  denyEveryone();
  const { ref = '' } = image().image ?? {};
  const message = await messageOf({ source: { type: 'image', image: { ref } }, account });
  const failing = aFailing();
  const spec = { ...failing.deployment.spec, serviceAccount: account };
  expect(
    cureOfBundle(message, { ...failing, deployment: { ...failing.deployment, spec } }),
  ).toContain('kubectl create secret docker-registry NAME --namespace team-a');
});

test('each row is the first that matches one of these messages', () => {
  expect(unreachedRows(sourceCauses, messages)).toEqual([]);
});
