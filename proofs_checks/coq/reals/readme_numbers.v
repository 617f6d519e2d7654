(* Written by benchmarks/coq_run.py from the numbers of readme_table.v; do not edit.
   The tables near_cost and far_cost are at least theta at their nodes. *)
From Coq Require Import ZArith Reals Lra List.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint.
From mathcomp Require Import ssrZ Rstruct.
From lastiterate Require Import laws rules composition induction checker.
From lastiterate.reals Require Import gaussian table_costs gauss_numbers readme_table.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Delimit Scope R_scope with coqR.
Open Scope R_scope.

Lemma near_all :
  List.Forall (node_cost (2 / 25) scale near_cost) near_cost.
Proof.
unfold near_cost at 2; repeat (apply List.Forall_cons).
- right; exists (343648545545/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 6987 10424) with 663765%ZZ by (vm_compute; reflexivity).
  exact near0.
- right; exists (82468472505/17179869184); cbn [fst snd].
  replace (scaled scale near_cost 12068 17718) with 3147626%ZZ by (vm_compute; reflexivity).
  exact near1.
- right; exists (158057189887/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 30952 44721) with 21832969%ZZ by (vm_compute; reflexivity).
  exact near2.
- right; exists (302371675307/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 76292 108481) with 141302369%ZZ by (vm_compute; reflexivity).
  exact near3.
- right; exists (144310984013/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 180716 252883) with 850060307%ZZ by (vm_compute; reflexivity).
  exact near4.
- right; exists (274878327911/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 411393 566541) with 4740445431%ZZ by (vm_compute; reflexivity).
  exact near5.
- right; exists (130567096379/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 900027 1219779) with 24504731469%ZZ by (vm_compute; reflexivity).
  exact near6.
- right; exists (247390358579/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1892319 2523895) with 117403044473%ZZ by (vm_compute; reflexivity).
  exact near7.
- right; exists (233646257855/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 3823610 5018821) with 521413217536%ZZ by (vm_compute; reflexivity).
  exact near8.
- right; exists (109951200041/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 7424956 9591208) with 2147092890536%ZZ by (vm_compute; reflexivity).
  exact near9.
- right; exists (206158463725/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 13856557 17615137) with 8200203162422%ZZ by (vm_compute; reflexivity).
  exact near10.
- right; exists (192414554635/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 24851822 31091395) with 29056943270451%ZZ by (vm_compute; reflexivity).
  exact near11.
- right; exists (178670647203/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 42835404 52739514) with 95564169555306%ZZ by (vm_compute; reflexivity).
  exact near12.
- right; exists (82463372863/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 70956055 85975360) with 291840919563580%ZZ by (vm_compute; reflexivity).
  exact near13.
- right; exists (75591425137/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 112958325 134695806) with 827960349675552%ZZ by (vm_compute; reflexivity).
  exact near14.
- right; exists (137438953745/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 172818180 202804013) with 2183301130164761%ZZ by (vm_compute; reflexivity).
  exact near15.
- right; exists (123695060799/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 254099142 293455062) with 5354402930595216%ZZ by (vm_compute; reflexivity).
  exact near16.
- right; exists (109951164773/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 359053965 408083863) with 12220281486330430%ZZ by (vm_compute; reflexivity).
  exact near17.
- right; exists (48103633733/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 487594913 545381181) with 25973627510602338%ZZ by (vm_compute; reflexivity).
  exact near18.
- right; exists (41231686221/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 636358211 700477069) with 51452376437595140%ZZ by (vm_compute; reflexivity).
  exact near19.
- right; exists (34359738659/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 798155119 864631119) with 95076696108813568%ZZ by (vm_compute; reflexivity).
  exact near20.
- right; exists (54975581555/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 962091148 1025678060) with 164039767177104800%ZZ by (vm_compute; reflexivity).
  exact near21.
- right; exists (41231686543/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1114521577 1169323334) with 264532595616593891%ZZ by (vm_compute; reflexivity).
  exact near22.
- right; exists (13743895503/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 1240806764 1281154705) with 399164446134442666%ZZ by (vm_compute; reflexivity).
  exact near23.
- right; exists (858993487/4294967296); cbn [fst snd].
  replace (scaled scale near_cost 1327587882 1349000130) with 564278963584745028%ZZ by (vm_compute; reflexivity).
  exact near24.
- right; exists (627/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1365104473 1365104474) with 748290104311170506%ZZ by (vm_compute; reflexivity).
  exact near25.
- right; exists (-1717986895/8589934592); cbn [fst snd].
  replace (scaled scale near_cost 1349000129 1327587882) with 932138574684186778%ZZ by (vm_compute; reflexivity).
  exact near26.
- right; exists (-27487790319/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1281154705 1240806765) with 1092336786008222060%ZZ by (vm_compute; reflexivity).
  exact near27.
- right; exists (-41231685813/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1169323333 1114521577) with 1206019602555736148%ZZ by (vm_compute; reflexivity).
  exact near28.
- right; exists (-54975580667/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1025678060 962091149) with 1256454587502646144%ZZ by (vm_compute; reflexivity).
  exact near29.
- right; exists (-34359738165/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 864631118 798155119) with 1237125669118841002%ZZ by (vm_compute; reflexivity).
  exact near30.
- right; exists (-82463371097/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 700477069 636358212) with 1153005957593831496%ZZ by (vm_compute; reflexivity).
  exact near31.
- right; exists (-48103632855/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 545381181 487594914) with 1018734139886582358%ZZ by (vm_compute; reflexivity).
  exact near32.
- right; exists (-109951162673/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 408083862 359053965) with 854547501597705792%ZZ by (vm_compute; reflexivity).
  exact near33.
- right; exists (-123695057877/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 293455061 254099142) with 681483945645875043%ZZ by (vm_compute; reflexivity).
  exact near34.
- right; exists (-137438953015/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 202804014 172818181) with 517335991022970307%ZZ by (vm_compute; reflexivity).
  exact near35.
- right; exists (-151182842675/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 134695806 112958326) with 374275024458384550%ZZ by (vm_compute; reflexivity).
  exact near36.
- right; exists (-41231683935/17179869184); cbn [fst snd].
  replace (scaled scale near_cost 85975359 70956055) with 258321519731951455%ZZ by (vm_compute; reflexivity).
  exact near37.
- right; exists (-22333828865/8589934592); cbn [fst snd].
  replace (scaled scale near_cost 52739513 42835404) with 170246861724535659%ZZ by (vm_compute; reflexivity).
  exact near38.
- right; exists (-192414520075/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 31091395 24851823) with 107224088021117064%ZZ by (vm_compute; reflexivity).
  exact near39.
- right; exists (-103079200869/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 17615137 13856558) with 64580095953060578%ZZ by (vm_compute; reflexivity).
  exact near40.
- right; exists (-219902284397/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 9591208 7424957) with 37218056014663637%ZZ by (vm_compute; reflexivity).
  exact near41.
- right; exists (-233646204359/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 5018822 3823611) with 20534090100516497%ZZ by (vm_compute; reflexivity).
  exact near42.
- right; exists (-247390018239/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 2523894 1892319) with 10850493315453981%ZZ by (vm_compute; reflexivity).
  exact near43.
- right; exists (-261133238355/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 1219779 900028) with 5493304873066269%ZZ by (vm_compute; reflexivity).
  exact near44.
- right; exists (-274876239907/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 566541 411394) with 2665409912986287%ZZ by (vm_compute; reflexivity).
  exact near45.
- right; exists (-288620611561/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 252884 180717) with 1239820473022965%ZZ by (vm_compute; reflexivity).
  exact near46.
- right; exists (-151181878449/34359738368); cbn [fst snd].
  replace (scaled scale near_cost 108480 76292) with 552985772204996%ZZ by (vm_compute; reflexivity).
  exact near47.
- right; exists (-316086627789/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 44721 30953) with 236532461464067%ZZ by (vm_compute; reflexivity).
  exact near48.
- right; exists (-5153167399/1073741824); cbn [fst snd].
  replace (scaled scale near_cost 17718 12069) with 97049084461026%ZZ by (vm_compute; reflexivity).
  exact near49.
- right; exists (-42949175043/8589934592); cbn [fst snd].
  replace (scaled scale near_cost 6746 4522) with 38208029603988%ZZ by (vm_compute; reflexivity).
  exact near50.
- right; exists (-357085527881/68719476736); cbn [fst snd].
  replace (scaled scale near_cost 3731 2462) with 21801254144678%ZZ by (vm_compute; reflexivity).
  exact near51.
- left; reflexivity.
- apply List.Forall_nil.
Qed.
Lemma far_all :
  List.Forall (node_cost (29 / 25) scale far_cost) far_cost.
Proof.
unfold far_cost at 2; repeat (apply List.Forall_cons).
- right; exists (303740089539/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 6949 1171216) with 1580369376%ZZ by (vm_compute; reflexivity).
  exact far0.
- right; exists (73701646961/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 6459 936243) with 2527863153%ZZ by (vm_compute; reflexivity).
  exact far1.
- right; exists (71468259077/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 12045 1501545) with 7990950375%ZZ by (vm_compute; reflexivity).
  exact far2.
- right; exists (276939500117/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 22085 2367758) with 24460968006%ZZ by (vm_compute; reflexivity).
  exact far3.
- right; exists (134002979857/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 39818 3671366) with 72508881240%ZZ by (vm_compute; reflexivity).
  exact far4.
- right; exists (32384053983/8589934592); cbn [fst snd].
  replace (scaled scale far_cost 70590 5597574) with 208133541336%ZZ by (vm_compute; reflexivity).
  exact far5.
- right; exists (250138902237/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 123050 8391637) with 578542656698%ZZ by (vm_compute; reflexivity).
  exact far6.
- right; exists (241205365751/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 210912 12370143) with 1557404191428%ZZ by (vm_compute; reflexivity).
  exact far7.
- right; exists (232271832571/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 355468 17930084) with 4060397805736%ZZ by (vm_compute; reflexivity).
  exact far8.
- right; exists (111669150397/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 589090 25554763) with 10253561107212%ZZ by (vm_compute; reflexivity).
  exact far9.
- right; exists (214404768661/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 959938 35813089) with 25081735551840%ZZ by (vm_compute; reflexivity).
  exact far10.
- right; exists (205471235565/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 1538104 49350628) with 59437484069856%ZZ by (vm_compute; reflexivity).
  exact far11.
- right; exists (12283606469/4294967296); cbn [fst snd].
  replace (scaled scale far_cost 2423310 66868926) with 136467437387292%ZZ by (vm_compute; reflexivity).
  exact far12.
- right; exists (187604171631/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 3754164 89091651) with 303607999599426%ZZ by (vm_compute; reflexivity).
  exact far13.
- right; exists (178670639761/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 5718714 116716038) with 654584868028242%ZZ by (vm_compute; reflexivity).
  exact far14.
- right; exists (42434276967/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 8565731 150350537) with 1367868339763383%ZZ by (vm_compute; reflexivity).
  exact far15.
- right; exists (160803575675/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 12615702 190440961) with 2770826206940297%ZZ by (vm_compute; reflexivity).
  exact far16.
- right; exists (75935021839/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 18270035 237190185) with 5441596938961540%ZZ by (vm_compute; reflexivity).
  exact far17.
- right; exists (142936511643/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 26016466 290478524) with 10362526476505952%ZZ by (vm_compute; reflexivity).
  exact far18.
- right; exists (33500744929/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 36428241 349793971) with 19138251323306642%ZZ by (vm_compute; reflexivity).
  exact far19.
- right; exists (62534723853/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 50154405 414182355) with 34285986473717310%ZZ by (vm_compute; reflexivity).
  exact far20.
- right; exists (453655921/268435456); cbn [fst snd].
  replace (scaled scale far_cost 67898622 482227378) with 59592970366086068%ZZ by (vm_compute; reflexivity).
  exact far21.
- right; exists (26800595945/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 90384473 552068700) with 100514719081421508%ZZ by (vm_compute; reflexivity).
  exact far22.
- right; exists (49134425879/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 118306256 621463172) with 164558101796861364%ZZ by (vm_compute; reflexivity).
  exact far23.
- right; exists (22333829943/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 152265883 687889506) with 261558827044911182%ZZ by (vm_compute; reflexivity).
  exact far24.
- right; exists (80401787849/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 192698583 748691655) with 403731564163480992%ZZ by (vm_compute; reflexivity).
  exact far25.
- right; exists (8933531983/8589934592); cbn [fst snd].
  replace (scaled scale far_cost 239792426 801250521) with 605354040451608901%ZZ by (vm_compute; reflexivity).
  exact far26.
- right; exists (15633680965/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 293409001 843169111) with 881957413209571941%ZZ by (vm_compute; reflexivity).
  exact far27.
- right; exists (26800595937/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 353014415 872453094) with 1248944896618875435%ZZ by (vm_compute; reflexivity).
  exact far28.
- right; exists (44667659903/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 417630768 887667923) with 1719652682469283835%ZZ by (vm_compute; reflexivity).
  exact far29.
- right; exists (8933531981/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 485817970 888055292) with 2302993228768351384%ZZ by (vm_compute; reflexivity).
  exact far30.
- right; exists (26800595945/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 555694002 873595791) with 3000958921838769597%ZZ by (vm_compute; reflexivity).
  exact far31.
- right; exists (17867064017/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 624998378 845010502) with 3806380145773174808%ZZ by (vm_compute; reflexivity).
  exact far32.
- right; exists (4466766007/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 691199029 803701405) with 4701389333575041162%ZZ by (vm_compute; reflexivity).
  exact far33.
- right; exists (19/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 751637430 751637431) with 5657010891908612898%ZZ by (vm_compute; reflexivity).
  exact far34.
- right; exists (-4466765967/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 803701405 691199030) with 6634165431295285735%ZZ by (vm_compute; reflexivity).
  exact far35.
- right; exists (-1116691497/4294967296); cbn [fst snd].
  replace (scaled scale far_cost 845010501 624998378) with 7586159642377057003%ZZ by (vm_compute; reflexivity).
  exact far36.
- right; exists (-6700148961/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 873595791 555694003) with 8462470064398277783%ZZ by (vm_compute; reflexivity).
  exact far37.
- right; exists (-35734127807/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 888055292 485817971) with 9213377795466934981%ZZ by (vm_compute; reflexivity).
  exact far38.
- right; exists (-44667659841/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 887667922 417630768) with 9794829503990381714%ZZ by (vm_compute; reflexivity).
  exact far39.
- right; exists (-53601191779/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 872453095 353014416) with 10172833459070288687%ZZ by (vm_compute; reflexivity).
  exact far40.
- right; exists (-31267361867/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 843169112 293409002) with 10326764193385356444%ZZ by (vm_compute; reflexivity).
  exact far41.
- right; exists (-71468255795/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 801250520 239792426) with 10251130651260482460%ZZ by (vm_compute; reflexivity).
  exact far42.
- right; exists (-80401787775/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 748691654 192698583) with 9955619794404216372%ZZ by (vm_compute; reflexivity).
  exact far43.
- right; exists (-11166914945/8589934592); cbn [fst snd].
  replace (scaled scale far_cost 687889508 152265884) with 9463502624734460672%ZZ by (vm_compute; reflexivity).
  exact far44.
- right; exists (-24567212887/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 621463175 118306257) with 8808728136791434816%ZZ by (vm_compute; reflexivity).
  exact far45.
- right; exists (-26800595863/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 552068703 90384474) with 8032189382041779513%ZZ by (vm_compute; reflexivity).
  exact far46.
- right; exists (-116135914909/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 482227378 67898623) with 7177706785263235628%ZZ by (vm_compute; reflexivity).
  exact far47.
- right; exists (-125069447531/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 414182362 50154406) with 6288238653152238260%ZZ by (vm_compute; reflexivity).
  exact far48.
- right; exists (-8375186205/4294967296); cbn [fst snd].
  replace (scaled scale far_cost 349793978 36428242) with 5402720605503615900%ZZ by (vm_compute; reflexivity).
  exact far49.
- right; exists (-142936511003/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 290478532 26016467) with 4553786209870206948%ZZ by (vm_compute; reflexivity).
  exact far50.
- right; exists (-2372969417/1073741824); cbn [fst snd].
  replace (scaled scale far_cost 237190194 18270036) with 3766461275333805786%ZZ by (vm_compute; reflexivity).
  exact far51.
- right; exists (-5025111671/2147483648); cbn [fst snd].
  replace (scaled scale far_cost 190440969 12615703) with 3057785635667289283%ZZ by (vm_compute; reflexivity).
  exact far52.
- right; exists (-169737102139/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 150350540 8565732) with 2437212323875702324%ZZ by (vm_compute; reflexivity).
  exact far53.
- right; exists (-89335315211/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 116716040 5718715) with 1907574109696828755%ZZ by (vm_compute; reflexivity).
  exact far54.
- right; exists (-187604159181/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 89091656 3754165) with 1466390541126160845%ZZ by (vm_compute; reflexivity).
  exact far55.
- right; exists (-98268845733/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 66868940 2423311) with 1107303944093303271%ZZ by (vm_compute; reflexivity).
  exact far56.
- right; exists (-102735603329/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 49350636 1538105) with 821472466193704681%ZZ by (vm_compute; reflexivity).
  exact far57.
- right; exists (-214404731765/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 35813104 959939) with 598797897666440099%ZZ by (vm_compute; reflexivity).
  exact far58.
- right; exists (-111669114027/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 25554775 589091) with 428917439215262396%ZZ by (vm_compute; reflexivity).
  exact far59.
- right; exists (-232271761735/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 17930113 355469) with 301934145589962452%ZZ by (vm_compute; reflexivity).
  exact far60.
- right; exists (-241205099243/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 12370146 210913) with 208895589964551479%ZZ by (vm_compute; reflexivity).
  exact far61.
- right; exists (-250138526699/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 8391652 123051) with 142054062228588413%ZZ by (vm_compute; reflexivity).
  exact far62.
- right; exists (-259071740815/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 5597588 70591) with 94953293694336137%ZZ by (vm_compute; reflexivity).
  exact far63.
- right; exists (-67001376159/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 3671430 39819) with 62390674494702033%ZZ by (vm_compute; reflexivity).
  exact far64.
- right; exists (-69234642285/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 2367828 22086) with 40299565212749754%ZZ by (vm_compute; reflexivity).
  exact far65.
- right; exists (-142934591723/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 1501572 12046) with 25589869852750514%ZZ by (vm_compute; reflexivity).
  exact far66.
- right; exists (-294802035623/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 936316 6460) with 15974806990504536%ZZ by (vm_compute; reflexivity).
  exact far67.
- right; exists (-37965689533/8589934592); cbn [fst snd].
  replace (scaled scale far_cost 574090 3407) with 9804260074928317%ZZ by (vm_compute; reflexivity).
  exact far68.
- right; exists (-312642939341/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 346113 1767) with 5915819473382241%ZZ by (vm_compute; reflexivity).
  exact far69.
- right; exists (-160783956865/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 205180 901) with 3509486568894358%ZZ by (vm_compute; reflexivity).
  exact far70.
- right; exists (-82614944469/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 119601 452) with 2046964255316392%ZZ by (vm_compute; reflexivity).
  exact far71.
- right; exists (-169670802169/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 68551 223) with 1173866108635359%ZZ by (vm_compute; reflexivity).
  exact far72.
- right; exists (-87080562187/17179869184); cbn [fst snd].
  replace (scaled scale far_cost 38634 108) with 661871642647782%ZZ by (vm_compute; reflexivity).
  exact far73.
- right; exists (-178326143535/34359738368); cbn [fst snd].
  replace (scaled scale far_cost 21410 52) with 366927647036174%ZZ by (vm_compute; reflexivity).
  exact far74.
- right; exists (-362331242179/68719476736); cbn [fst snd].
  replace (scaled scale far_cost 5891 13) with 100983271307627%ZZ by (vm_compute; reflexivity).
  exact far75.
- left; reflexivity.
- apply List.Forall_nil.
Qed.
