import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../errors.ts';
import { wantedCertificates } from './wanted-certificates.ts';

const serving = 'core.rukpak.io/serving-certificate';
const inject = 'core.rukpak.io/inject-ca-from';

function anAnnotated(
  apiVersion: string,
  kind: string,
  { name = 'x', namespace, ...annotations }: Readonly<Record<string, string>>,
): KubernetesObject {
  const place = namespace === undefined ? {} : { namespace };
  return { apiVersion, kind, metadata: { name, ...place, annotations } };
}

const service = anAnnotated('v1', 'Service', { name: 'hook', namespace: 'app', [serving]: 'cert' });

function problemOf(...objects: readonly KubernetesObject[]): string {
  try {
    wantedCertificates(objects, 'rukpak-system');
  } catch (error) {
    expect(error).toBeInstanceOf(TerminalError);
    return (error as Error).message;
  }
  return '';
}

test('nothing is wanted without annotations', () => {
  expect(wantedCertificates([anAnnotated('v1', 'Service', { a: 'b' })], 'ns')).toBeUndefined();
});

test('Services that name one Secret share it; without a namespace they are in the system’s', () => {
  const other = anAnnotated('v1', 'Service', { name: 'api', namespace: 'app', [serving]: 'cert' });
  const homeless = anAnnotated('v1', 'Service', { name: 'lost', [serving]: 'cert' });
  const wanted = wantedCertificates([service, other, homeless], 'rukpak-system');
  expect([...(wanted?.secrets.keys() ?? [])]).toEqual(['app/cert', 'rukpak-system/cert']);
  expect(wanted?.secrets.get('app/cert')?.hosts).toEqual([
    'hook.app',
    'hook.app.svc',
    'hook.app.svc.cluster.local',
    'api.app',
    'api.app.svc',
    'api.app.svc.cluster.local',
  ]);
});

test('so many Services ask for certificates as can be looked after', () => {
  const services = (count: number, secret: (index: number) => string) =>
    Array.from({ length: count }, (_, index) =>
      anAnnotated('v1', 'Service', {
        name: `s${index}`,
        namespace: 'app',
        [serving]: secret(index),
      }),
    );
  expect(problemOf(...services(100, (index) => `cert-${index}`))).toBe('');
  const problem =
    '101 Services are annotated with core.rukpak.io/serving-certificate, more than 100: remove the annotation from Services that do not serve TLS, or split the bundle';
  expect(problemOf(...services(101, (index) => `cert-${index}`))).toBe(problem);
  expect(problemOf(...services(101, () => 'cert'))).toBe(problem);
});

const holder = (source: string) =>
  anAnnotated('apiregistration.k8s.io/v1', 'APIService', { [inject]: source });

test.each<[string, readonly KubernetesObject[], string]>([
  [
    'a Secret without a usable name',
    [anAnnotated('v1', 'Service', { namespace: 'app', [serving]: 'A Secret' })],
    'annotation core.rukpak.io/serving-certificate of Service "x" in namespace "app" is "A Secret": it must be the name of a Secret, such as "webhook-cert"',
  ],
  [
    'a certificate for something else',
    [anAnnotated('v1', 'ConfigMap', { [serving]: 'cert' })],
    'core makes certificates for Services only; remove the annotation',
  ],
  [
    'trust of something else',
    [service, anAnnotated('v1', 'Pod', { [inject]: 'app/cert' })],
    'only webhook configurations, CustomResourceDefinitions and APIServices have a CA bundle',
  ],
  ['trust in a Secret of nobody', [service, holder('app/other')], ', such as "app/cert"'],
  ['trust without a namespace', [service, holder('cert')], 'it must be <namespace>/<name>'],
  ['trust without any Service', [holder('app/cert')], 'of a Secret that a Service of the same'],
  [
    'a Secret of the content',
    [service, anAnnotated('v1', 'Secret', { name: 'cert', namespace: 'app' })],
    'Secret "cert" in namespace "app" is in the content, and annotation core.rukpak.io/serving-certificate of Service "hook" in namespace "app" asks for a Secret of that name too: remove one of the two',
  ],
])('%s is refused, with the way out', (_, objects, message) => {
  expect(problemOf(...objects)).toContain(message);
});

test('all problems are told at once', () => {
  expect(problemOf(service, holder('a/b'), holder('c/d')).split(' && ')).toHaveLength(2);
});
