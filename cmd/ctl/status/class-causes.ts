import type { Cause } from './cause.ts';

const fields: Readonly<Record<string, string>> = {
  Bundle: 'spec.template.spec.provisionerClassName',
  BundleDeployment: 'spec.provisionerClassName',
};

/** Failures of classes: those that nobody serves, whose server is away, and that fail themselves. */
export const classCauses: readonly Cause[] = [
  [
    /no manager has looked at this (\w+): either class "([^"]*)" is misspelt \(did you mean "([^"]*)"\?\)/,
    ({ name }, [kind = '', , meant]) =>
      `write "${meant}" as ${fields[kind]} of BundleDeployment "${name}"`,
  ],
  [
    /no manager has looked at this (\w+): either class "([^"]*)" is misspelt.* This one serves (.*?)(?: \(Bundle |$)/,
    ({ name }, [kind = '', className, served]) =>
      `correct ${fields[kind]} of BundleDeployment "${name}" (core serves ${served}), or start the manager that serves class "${className}": rukpakctl verify looks at core`,
  ],
  [
    /class "([^"]+)" at (\S+?)(?: answered (?:429|50[234])|: .*(?:refused|no such host|reset|closed|timed out|ECONN|unreachable))/,
    (_, [className, url]) =>
      `start the server of class "${className}", or correct its address ${url} in --provisioner-url of core: it goes on by itself within a minute`,
  ],
  [
    /class "([^"]+)" at (\S+?) answered (\S+)/,
    (_, [className, url, status]) =>
      `look at the log of the server of class "${className}" at ${url}, which answered ${status} (docs/howto/provisioner-over-http.md)`,
  ],
  [
    /class "[^"]+", (\w+)\(\): it needs what a class may not have/,
    () =>
      'have the class work on the files that it is given: it may read its own package and nothing else of the machine (docs/howto/run-a-provisioner.md)',
  ],
  [
    /class "([^"]+)", (\w+)\(\): /,
    ({ name }, [className, handler]) =>
      `${handler}() of class "${className}" fails: where its message blames the config, correct spec.config of BundleDeployment "${name}"; else its author mends it, and core's log has what it wrote`,
  ],
];
