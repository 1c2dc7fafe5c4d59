const maxServiceName = 63;
const suffix = '-service';

/** Name of the Service in front of a deployment that serves webhooks or APIs, as OLM names it. */
export function serviceName(deploymentName: string): string {
  const base = deploymentName.replaceAll('.', '-');
  // A deployment's name may be longer than a Service's.
  return `${base.slice(0, maxServiceName - suffix.length)}${suffix}`;
}

/** Name of the Secret with the certificate that such a deployment serves with, as OLM names it. */
export function secretName(deploymentName: string): string {
  return `${serviceName(deploymentName)}-cert`;
}

/** What `core.rukpak.io/inject-ca-from` says on whatever the API server calls the deployment by. */
export function caSource(deploymentName: string, namespace: string): string {
  return `${namespace}/${secretName(deploymentName)}`;
}
