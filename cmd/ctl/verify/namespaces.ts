import { stringAt } from '../../../api/json-fields.ts';
import { liveObject } from '../../../core/platform/kube/index.ts';
import { type Check, crdNamespace, failed, ok, type VerifyContext, warning } from './check.ts';
import { namespaceResource } from './resources.ts';

const enforce = 'pod-security.kubernetes.io/enforce';

/** The namespaces of the system, and that nothing privileged may run in them. */
export async function namespaceChecks({
  cluster,
  signal,
  systemNamespace,
}: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const name of [systemNamespace, crdNamespace]) {
    const live = await liveObject(
      cluster.client,
      { resource: namespaceResource, key: { name } },
      signal,
    );
    const level = stringAt(live?.metadata.labels, enforce);
    checks.push(namespaceCheck(name, live !== undefined, level));
  }
  return checks;
}

function namespaceCheck(name: string, exists: boolean, level: string | undefined): Check {
  const subject = `Namespace ${name}`;
  if (!exists)
    return failed(subject, 'is missing', 'run "rukpak install", or apply an overlay of deploy/');
  if (level === 'baseline' || level === 'restricted')
    return ok(subject, `enforces pod security "${level}"`);
  return warning(
    subject,
    `does not enforce pod security: ${level === undefined ? 'it has no label' : 'its label is'} ${enforce}${level === undefined ? '' : `=${level}`}`,
    `kubectl label namespace ${name} ${enforce}=baseline --overwrite`,
  );
}
