import type { KubernetesObject } from '../../../../api/meta.ts';
import { annotation } from '../../../../api/v1alpha1/labels.ts';
import { stagesOfSecrets } from '../stages-of-secrets.ts';
import { withTrust } from '../trust-holders.ts';
import type { WantedCertificate, WantedCertificates } from '../wanted-certificates.ts';
import { withAnnotations } from './with-annotations.ts';

/** The kinds that cert-manager brings, as discovery names them. */
export const certManagerKinds: readonly string[] = [
  'cert-manager.io/v1/Certificate',
  'cert-manager.io/v1/Issuer',
];

const apiVersion = 'cert-manager.io/v1';
const injectAnnotation = 'cert-manager.io/inject-ca-from';

/** Longest name of an object. */
const maxName = 253;

export interface CertManagerIssue {
  readonly wanted: WantedCertificates;
  readonly systemNamespace: string;
  /** Whether each stage of the objects begins only when the one before is ready. */
  readonly waitForReady: boolean;
}

/** The objects with what has cert-manager make their certificates; its injector fills caBundle in. */
export function issuedByCertManager(
  objects: readonly KubernetesObject[],
  issue: CertManagerIssue,
): readonly KubernetesObject[] {
  const { secrets, holders } = issue.wanted;
  const changed = objects.map((object) => {
    const source = holders.get(object);
    if (source === undefined) return object;
    // A value of ours would be put back each time that its injector has replaced it.
    return withAnnotations(withTrust(object, undefined), { [injectAnnotation]: source });
  });
  const stages = issue.waitForReady ? stagesOfSecrets(objects, issue) : undefined;
  const asking = [...secrets].flatMap(([key, each]) =>
    issuerAndCertificate(each).map((object) => inStage(object, stages?.get(key))),
  );
  return [...asking, ...changed];
}

/** Custom resources come after workloads, and the pods of these would wait for the Secret for good. */
function inStage(object: KubernetesObject, stage: number | undefined): KubernetesObject {
  return stage === undefined
    ? object
    : withAnnotations(object, { [annotation.stage]: String(stage) });
}

/** The Certificate is called as its Secret: that is what the annotation of the injector names. */
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
