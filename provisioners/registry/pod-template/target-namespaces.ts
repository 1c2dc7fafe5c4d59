import type { DeploymentStep } from './deployment-step.ts';
import { isMap, withTemplate } from './template-parts.ts';

/** Where operators find, by a fieldRef too, which namespaces they are to watch. */
export const targetNamespacesKey = 'olm.targetNamespaces';

/** Has the pods know the watched namespaces, and not only their Deployment as in v0.16. */
export const targetNamespaces: DeploymentStep = (spec, { installation }) =>
  withTemplate(spec, (template) => {
    const metadata = isMap(template['metadata']) ? template['metadata'] : {};
    const annotations = isMap(metadata['annotations']) ? metadata['annotations'] : {};
    const value = installation.targetNamespaces.join(',');
    return {
      ...template,
      metadata: { ...metadata, annotations: { ...annotations, [targetNamespacesKey]: value } },
    };
  });
