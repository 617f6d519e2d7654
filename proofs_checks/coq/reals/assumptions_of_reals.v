(* The axioms of this folder: those of Coq's real numbers, classical logic and the choice that Coquelicot and
   mathcomp-analysis use, and the machine integers of coq-interval.  The check of the table itself uses none. *)
From lastiterate.reals Require Import measures gaussian readme_table runs cyclic_runs sampled_runs sampled_tables readme_run theorem_3_1.
Print Assumptions accepted.
Print Assumptions theta_reflected.
Print Assumptions readme_run_both.
Print Assumptions theta_le.
Print Assumptions blocks_bound.
Print Assumptions run_private.
Print Assumptions path_private.
Print Assumptions cycle_private.
Print Assumptions cyclic_path_private.
Print Assumptions far_mean.
Print Assumptions every_number.
Print Assumptions uniform_tossed.
Print Assumptions table_private_back.
Print Assumptions swap_one.
Print Assumptions poisson_bound.
Print Assumptions poisson_private.
Print Assumptions uniform_bound.
Print Assumptions uniform_private.
Print Assumptions measure_probability.
Print Assumptions real_power_young.
Print Assumptions gaussian_real.
