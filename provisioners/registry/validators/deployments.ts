import type { BundleProblem, RegistryBundle } from '../bundle/registry-bundle.ts';
import { apiServiceName, servedPorts, serviceName } from '../serving.ts';

type Problems = Generator<BundleProblem, void>;

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const maxLength = 253;

/** The API server accepts no other names. */
export function* deploymentNames({ csv }: RegistryBundle): Problems {
  for (const { name } of csv.deployments) {
    if (name.length <= maxLength && subdomain.test(name)) continue;
    yield {
      message: `invalid cluster service version strategy deployment name '${name}': it must be of lower case letters, digits, '-' and '.', begin and end with a letter or digit, and have at most ${maxLength} characters; correct it in spec.install.spec.deployments of the CSV`,
    };
  }
}

/** The cluster would keep only one of two deployments with the same name. */
export function* uniqueDeployments({ csv }: RegistryBundle): Problems {
  const seen = new Set<string>();
  for (const { name } of csv.deployments) {
    if (seen.has(name)) {
      yield {
        message: `cluster service version contains duplicate strategy deployment spec '${name}'; give each of spec.install.spec.deployments of the CSV its own name`,
      };
    }
    seen.add(name);
  }
}

/** Each owned API needs a deployment of the CSV, a group and a version. */
export function* apiServiceDeployments({ csv }: RegistryBundle): Problems {
  const names = new Set(csv.deployments.map(({ name }) => name));
  for (const item of csv.ownedApiServices) {
    const name = apiServiceName(item);
    if (item.group === '' || item.version === '') {
      const missing = item.group === '' ? 'group' : 'version';
      const message = `owned APIService '${name}' has no ${missing}; add it in the CSV's apiservicedefinitions`;
      yield { message, item };
    } else if (!names.has(item.deploymentName)) {
      const message = `owned APIService '${name}' references non-existent deployment '${item.deploymentName}'; correct deploymentName in the CSV's apiservicedefinitions to a deployment of spec.install`;
      yield { message, item };
    }
  }
}

/** A Service's port can have only one target port of the pods. */
export function* oneTargetPerPort({ csv }: RegistryBundle): Problems {
  for (const { name } of csv.deployments) {
    const targets = Map.groupBy(servedPorts(csv, name), ({ port }) => port);
    for (const [port, served] of targets) {
      if (served.length === 1) continue;
      yield {
        message: `deployment '${name}' serves containerPort ${port} at different ports of its pods (${served.map(({ targetPort }) => targetPort).join(', ')}); give its webhooks and owned APIServices one targetPort for it, or each its own containerPort`,
      };
    }
  }
}

/** A Service selects the pods of one deployment: requests for another one would reach these. */
export function* uniqueServices({ csv }: RegistryBundle): Problems {
  const seen = new Map<string, string>();
  for (const { name } of csv.deployments) {
    if (servedPorts(csv, name).length === 0) continue;
    const service = serviceName(name);
    const other = seen.get(service);
    if (other !== undefined && other !== name) {
      yield {
        message: `deployments '${other}' and '${name}' would both serve through Service '${service}'; rename one of them in spec.install.spec.deployments of the CSV`,
      };
    }
    seen.set(service, name);
  }
}
