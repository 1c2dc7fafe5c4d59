import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { builtInStage, isKept } from '../../apply/index.ts';
import { checkObjectSize } from '../../manifests/index.ts';
import {
  encoded,
  secretOf,
  secretsUsedBy,
  stagesOfSecrets,
  withCertificateHash,
} from './certificate-secrets.ts';
import type { CertificateState } from './certificate-state.ts';
import { type Annotations, withAnnotations, withTrust } from './trust.ts';
import type { WantedCertificate, WantedCertificates } from './wanted-certificates.ts';

interface SelfIssue {
  readonly wanted: WantedCertificates;
  /** By `<namespace>/<name>` of the Secret; without a state no CA is injected. */
  readonly states: ReadonlyMap<string, CertificateState>;
  readonly systemNamespace: string;
}

/** Characters of the hash in the pods' annotation; it must only differ. */
const hashLength = 16;

/** The objects with core's Secrets, and with CAs to trust them. */
export function selfIssued(
  objects: readonly KubernetesObject[],
  issue: SelfIssue,
): readonly KubernetesObject[] {
  const { wanted, states } = issue;
  const stages = stagesOfSecrets(objects, issue);
  const secrets = [...wanted.secrets].map(([key, each]) =>
    withAnnotations(secretOf(each, states.get(key)), {
      ...stageAnnotation(stages.get(key)),
      ...keepFor(each),
    }),
  );
  const changed = objects.map((object) => {
    const source = wanted.holders.get(object);
    if (source === undefined) return withHash(object, issue);
    const authorities = states.get(source)?.authorities;
    const trusting = withTrust(
      object,
      authorities === undefined ? undefined : encoded(authorities),
    );
    // Each webhook of the object has a copy of the CAs.
    checkObjectSize(trusting);
    return trusting;
  });
  return [...secrets, ...changed];
}

/** A changed hash restarts pods whose program does not reload its certificate. */
function withHash(
  object: KubernetesObject,
  { states, systemNamespace }: SelfIssue,
): KubernetesObject {
  const namespace = object.metadata.namespace || systemNamespace;
  const certificates = secretsUsedBy(object).flatMap(
    (name) => states.get(`${namespace}/${name}`)?.serving.certificate ?? [],
  );
  if (certificates.length === 0) return object;
  const hash = createHash('sha256').update(certificates.join('')).digest('hex');
  return withCertificateHash(object, hash.slice(0, hashLength));
}

/** Stage `configuration` is a Secret's default, so it needs no annotation. */
function stageAnnotation(stage: number = builtInStage.configuration): Annotations {
  return stage === builtInStage.configuration ? {} : { [annotation.stage]: String(stage) };
}

/** The Secret is kept when a Service that uses it is kept. */
function keepFor({ services }: WantedCertificate): Annotations {
  return services.some(isKept) ? { [annotation.keep]: 'true' } : {};
}
