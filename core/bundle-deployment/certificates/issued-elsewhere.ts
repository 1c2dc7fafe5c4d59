import { mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { WaitingError } from '../../errors.ts';
import type { Discovery, ServedApis } from '../../platform/kube/index.ts';
import type { CertificateProvider } from './certificate-options.ts';
import { stagesOfSecrets } from './certificate-secrets.ts';
import { withAnnotations, withTrust } from './trust.ts';
import type { WantedCertificate, WantedCertificates } from './wanted-certificates.ts';

interface Elsewhere extends CertManagerIssue {
  readonly provider: CertificateProvider;
  readonly discovery: ServedApis & Pick<Discovery, 'invalidate'>;
  readonly signal: AbortSignal;
}

/**
 * The objects with annotations for a provider other than core itself.
 * @throws WaitingError when the cluster does not have the provider.
 */
export async function issuedElsewhere(
  objects: readonly KubernetesObject[],
  elsewhere: Elsewhere,
): Promise<readonly KubernetesObject[]> {
  const { provider, discovery, signal, wanted } = elsewhere;
  if (provider === 'service-ca') return issuedByServiceCA(objects, wanted);
  const served = await discovery.apiVersions(signal);
  if (!certManagerKinds.every((kind) => served.includes(kind))) {
    // The next attempt must see a provider that was installed meanwhile.
    discovery.invalidate();
    throw new WaitingError(
      'core runs with --certificates=cert-manager, and the cluster has no cert-manager (kinds Certificate and Issuer of cert-manager.io/v1): install it, or run core with --certificates=self',
    );
  }
  return issuedByCertManager(objects, elsewhere);
}

/** The kinds of cert-manager, as discovery names them. */
const certManagerKinds: readonly string[] = [
  'cert-manager.io/v1/Certificate',
  'cert-manager.io/v1/Issuer',
];

const apiVersion = 'cert-manager.io/v1';
const certManagerInject = 'cert-manager.io/inject-ca-from';

/** Longest name of an object. */
const maxName = 253;

interface CertManagerIssue {
  readonly wanted: WantedCertificates;
  readonly systemNamespace: string;
  /** Whether each stage of the objects waits until the one before is ready. */
  readonly waitForReady: boolean;
}

/** The objects with cert-manager's Issuers and Certificates; its injector writes caBundle. */
export function issuedByCertManager(
  objects: readonly KubernetesObject[],
  issue: CertManagerIssue,
): readonly KubernetesObject[] {
  const { secrets, holders } = issue.wanted;
  const changed = objects.map((object) => {
    const source = holders.get(object);
    if (source === undefined) return object;
    // A caBundle of core would revert each one that the injector writes.
    return withAnnotations(withTrust(object, undefined), { [certManagerInject]: source });
  });
  const stages = issue.waitForReady ? stagesOfSecrets(objects, issue) : undefined;
  const asking = [...secrets].flatMap(([key, each]) =>
    issuerAndCertificate(each).map((object) => inStage(object, stages?.get(key))),
  );
  return [...asking, ...changed];
}

/**
 * By default custom resources come after workloads, whose pods would wait for the Secret for ever.
 */
function inStage(object: KubernetesObject, stage: number | undefined): KubernetesObject {
  return stage === undefined
    ? object
    : withAnnotations(object, { [annotation.stage]: String(stage) });
}

/**
 * The Certificate has the name of its Secret, because the injector's annotation refers to it by
 * that name.
 */
function issuerAndCertificate({
  namespace,
  name,
  hosts,
}: WantedCertificate): readonly KubernetesObject[] {
  const suffix = '-selfsigned-issuer';
  const issuer = `${name.slice(0, maxName - suffix.length)}${suffix}`;
  return [
    {
      apiVersion,
      kind: 'Issuer',
      metadata: { name: issuer, namespace },
      spec: { selfSigned: {} },
    },
    {
      apiVersion,
      kind: 'Certificate',
      metadata: { name, namespace },
      spec: {
        secretName: name,
        dnsNames: [...hosts],
        usages: ['server auth'],
        issuerRef: { name: issuer },
      },
    },
  ];
}

const serviceCASecret = 'service.beta.openshift.io/serving-cert-secret-name';
const serviceCAInject = 'service.beta.openshift.io/inject-cabundle';

/**
 * The objects with annotations for OpenShift's service CA, which makes the Secrets and writes
 * caBundle.
 */
export function issuedByServiceCA(
  objects: readonly KubernetesObject[],
  { holders }: WantedCertificates,
): readonly KubernetesObject[] {
  return objects.map((object) => {
    if (holders.has(object)) {
      return withAnnotations(withTrust(object, undefined), { [serviceCAInject]: 'true' });
    }
    const annotations = mapOf(object.metadata.annotations);
    const secret = stringAt(annotations, annotation.servingCertificate);
    return secret === undefined ? object : withAnnotations(object, { [serviceCASecret]: secret });
  });
}
