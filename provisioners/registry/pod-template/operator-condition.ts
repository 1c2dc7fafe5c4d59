import type { DeploymentStep } from './deployment-step.ts';
import { withEnvironment } from './environment.ts';

/**
 * The name of the operator's OperatorCondition, which is the CSV's: operators ask it for their own
 * name and version, and some do not start without. It is OLM's to say, so nothing else counts.
 */
export const operatorCondition: DeploymentStep = (spec, { bundle }) =>
  withEnvironment(spec, [{ name: 'OPERATOR_CONDITION_NAME', value: bundle.csv.name }]);
