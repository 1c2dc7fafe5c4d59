import { defineProvisioner } from '../../core/sdk.ts';
import { helmClass } from './helm-class.ts';
import { sharedEngine } from './shared-engine.ts';

export { isChart } from './is-chart.ts';

/** Helm charts, rendered by Helm's own engine. */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner(helmClass(sharedEngine));
